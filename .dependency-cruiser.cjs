// Imports go down the path of a call, never up and never in a circle. Each row: a folder and what it may import.
const MAY = {
  kernel: [],
  home: ["kernel"],
  rpc: ["kernel"],
  config: ["home", "kernel"],
  catalog: ["rpc", "home", "kernel"],
  child: ["rpc", "config", "home", "kernel"],
  middleware: ["catalog", "rpc", "config", "kernel"],
  surface: ["middleware", "catalog", "rpc", "config", "sandbox", "kernel"],
  session: ["surface", "rpc", "kernel"],
  transport: ["session", "rpc", "kernel"],
  sandbox: ["kernel"],
  clients: ["config", "home", "kernel"],
  oauth: ["config", "home", "kernel"],
  provision: ["config", "catalog", "home", "kernel"],
};

const layers = Object.entries(MAY).map(([folder, allowed]) => ({
  name: `${folder}-imports-down`,
  severity: "error",
  from: { path: `^src/${folder}/`, pathNot: "\\.(test|contract)\\.ts$" },
  to: { path: "^src/", pathNot: `^src/(${[folder, ...allowed].join("|")})/` },
}));

module.exports = {
  forbidden: [
    ...layers,
    { name: "no-cycle", severity: "error", from: {}, to: { circular: true } },
    {
      name: "kernel-is-pure",
      severity: "error",
      from: { path: "^src/kernel/", pathNot: "\\.(test|contract)\\.ts$" },
      to: { dependencyTypes: ["core", "npm"], pathNot: "^(node:)?crypto$" },
    },
    { name: "no-unresolved", severity: "error", from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
    },
  },
};
