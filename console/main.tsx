/** Starts the console. */
import "./styles/tokens.css";
import "./styles/base.css";
import { render } from "preact";
import { App } from "./app.tsx";
import { followLinks } from "./navigate.ts";
import { applyTheme } from "./theme.ts";

applyTheme();
followLinks();
render(<App />, document.getElementById("app") as HTMLElement);
