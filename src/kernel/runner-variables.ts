/**
 * Environment variables that decide which code a program loads, where a runner downloads it from, and whom it
 * trusts for that.
 */

const RUNNER_VARIABLES = new RegExp(
  `^(?:${[
    "PATH|HOME|USERPROFILE|SHELL|COMSPEC|PATHEXT|IFS|BASH_ENV|ZDOTDIR|PROMPT_COMMAND|TMPDIR|XDG_.*|METAMCP_.*|.*_PROXY",
    "LD_.*|DYLD_.*|GCONV_PATH|SSL_.*|(?:CURL|REQUESTS)_CA_.*|EDITOR|VISUAL|PAGER|SSH_ASKPASS",
    "GIT_(?:SSH|EXEC|CONFIG|PROXY|SSL|TEMPLATE|ASKPASS|EDITOR|PAGER|EXTERNAL).*",
    "NODE_(?:OPTIONS|PATH|EXTRA|TLS|REPL|V8|ICU|USE|COMPILE).*|npm_(?:config|execpath|node|lifecycle|package)_?.*",
    "(?:yarn|pnpm|corepack|bun|deno)_.*|PYTHON(?!UNBUFFERED|IOENCODING|UTF8|DONTWRITE).*|VIRTUAL_ENV|UV_.*|PIP_.*|PIPX_.*",
    "PERL5?(?:OPT|LIB|DB)|RUBY(?:OPT|LIB)|GEM_.*|BUNDLE_.*|_?JAVA_(?:TOOL_)?OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH",
    "GO(?:PROXY|FLAGS|SUMDB|NOSUMDB|PRIVATE)|CARGO_.*|RUSTUP_.*",
    "DOCKER_.*|BUILDKIT_.*|CONTAINER_HOST|DOTNET_.*|NUGET_.*|COREHOST_.*|COMPlus_.*|CORECLR_.*|MSBUILD.*",
  ].join("|")})$`,
  "i",
);

export function isRunnerVariable(name: string): boolean {
  return RUNNER_VARIABLES.test(name);
}
