/**
 * The style of the pages of the authorization server, like the console before login. One text, because their
 * content security policy allows a single style by its hash.
 */

/**
 * Copied from `console/styles/tokens.css`, because these pages must work without the console. A test compares
 * both.
 */
export const TOKENS = `
  --ground: light-dark(#f7f8fa, #0e1013);
  --surface: light-dark(#ffffff, #15181d);
  --hover: light-dark(#f1f3f7, #1d2129);
  --text: light-dark(#1a1e26, #e7eaf0);
  --text-soft: light-dark(#505968, #a7b0bf);
  --text-faint: light-dark(#626c7c, #8d96a6);
  --line: light-dark(#e3e6ec, #272c35);
  --line-strong: light-dark(#cdd3dd, #3a414d);
  --line-field: light-dark(#868f9f, #6a7484);
  --accent-fill: light-dark(#2a5bd7, #3a68e0);
  --accent-fill-hover: light-dark(#1f49b6, #2f5bd0);
  --on-accent: #ffffff;
  --focus: light-dark(#2a5bd7, #85a8ff);
  --bad: light-dark(#c02b2b, #ff8a80);
  --bad-ground: light-dark(#fdeeee, #321a1a);
  --space-2: 8px;
  --space-3: 12px;
  --space-4: 16px;
  --space-5: 24px;
  --space-6: 32px;
  --control: 32px;
  --radius: 6px;
  --radius-large: 10px;
  --size-small: 12px;
  --size: 13.5px;
  --size-mono: 12.5px;
  --size-title: 20px;
  --normal: 400;
  --strong: 600;
  --sans:
    -apple-system, BlinkMacSystemFont, "Segoe UI", "Adwaita Sans", "Noto Sans", Helvetica, Arial, sans-serif;
  --mono: ui-monospace, SFMono-Regular, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace;
`;

export const STYLE = `
:root { color-scheme: light dark; ${TOKENS} }
@media (pointer: coarse) { :root { --control: 40px; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: var(--normal) var(--size) / 20px var(--sans);
  font-synthesis: none; text-rendering: optimizeLegibility; -webkit-font-smoothing: antialiased;
  -webkit-text-size-adjust: 100%; }
main { display: flex; flex-direction: column; align-items: center; min-height: 100dvh;
  padding: max(48px, 14dvh) var(--space-3) var(--space-6); }
h1, p, dl, dd { margin: 0; overflow-wrap: anywhere; }
h1 { font-size: var(--size-title); line-height: 28px; font-weight: var(--strong); letter-spacing: -0.01em; text-wrap: balance; }
strong { font-weight: var(--strong); }
form { display: flex; flex-direction: column; gap: var(--space-4); }
label { display: flex; flex-direction: column; gap: 4px; font-weight: var(--strong); overflow-wrap: anywhere; }
input { width: 100%; min-height: var(--control); padding: 5px 10px; font: var(--normal) var(--size) / 20px var(--sans);
  color: inherit; background: var(--surface); border: 1px solid var(--line-field); border-radius: var(--radius); }
button, .button { display: inline-flex; align-items: center; justify-content: center; min-height: var(--control);
  padding: 0 12px; font: var(--strong) var(--size) / 20px var(--sans); color: var(--text); background: var(--surface);
  border: 1px solid var(--line-strong); border-radius: var(--radius); cursor: default; text-decoration: none; }
a.button { cursor: pointer; }
button:hover, .button:hover { background: var(--hover); }
.main, .main:hover { color: var(--on-accent); background: var(--accent-fill); border-color: transparent; }
.main:hover { background: var(--accent-fill-hover); }
dl { display: grid; grid-template-columns: auto 1fr; gap: var(--space-2) var(--space-4); }
dt { color: var(--text-soft); }
dd { font-family: var(--mono); font-size: var(--size-mono); }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
input:focus-visible { border-color: var(--focus); outline-offset: -1px; }
.product { margin-block-end: var(--space-5); font-size: var(--size-title); font-weight: var(--strong); letter-spacing: -0.02em; }
.card { display: flex; flex-direction: column; gap: var(--space-4); width: min(400px, 100%); padding: var(--space-5);
  background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius-large); }
.or { display: flex; align-items: center; gap: var(--space-3); color: var(--text-faint); font-size: var(--size-small); }
.or::before, .or::after { content: ""; flex: 1; height: 1px; background: var(--line); }
.actions { display: grid; grid-auto-flow: column; grid-auto-columns: 1fr; gap: var(--space-2); }
.quiet { color: var(--text-soft); }
.wrong { padding: var(--space-2) var(--space-3); border-radius: var(--radius); background: var(--bad-ground); color: var(--bad); }
`;
