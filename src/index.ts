export { createEngine, type Engine, type EngineOptions } from "./main.ts";
