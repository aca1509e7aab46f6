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
  gateway: ["surface", "middleware", "catalog", "rpc", "config", "kernel"],
  session: ["surface", "rpc", "kernel"],
  transport: ["session", "rpc", "kernel"],
  sandbox: ["kernel"],
  clients: ["config", "home", "kernel"],
  oauth: ["config", "home", "kernel"],
  provision: ["config", "catalog", "home", "kernel"],
  store: ["config", "home", "kernel"],
  access: ["store", "kernel"],
  observe: ["store", "rpc", "kernel"],
  authorization: ["access", "oauth", "store", "kernel"],
  logins: ["access", "authorization", "oauth", "store", "config", "kernel"],
  admin: ["logins", "observe", "access", "authorization", "gateway", "store", "rpc", "kernel"],
  openapi: ["transport", "session", "surface", "catalog", "admin", "rpc", "kernel"],
};

const layers = Object.entries(MAY).map(([folder, allowed]) => ({
  name: `${folder}-imports-down`,
  severity: "error",
  from: { path: `^src/${folder}/`, pathNot: "\\.(test|contract|fixture)\\.ts$" },
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
    {
      // Of the gateway's own code the console knows what it says about types, and nothing that runs.
      name: "console-imports-types",
      severity: "error",
      from: { path: "^console/", pathNot: "\\.test\\.tsx?$" },
      to: { path: "^src/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "console-imports-these-types",
      severity: "error",
      from: { path: "^console/", pathNot: "\\.test\\.tsx?$" },
      to: { path: "^src/", pathNot: "^src/(admin|gateway|kernel|access|observe)/" },
    },
    {
      name: "console-packages",
      severity: "error",
      from: { path: "^console/", pathNot: "\\.test\\.tsx?$" },
      to: {
        dependencyTypes: ["core", "npm", "npm-dev"],
        pathNot: "(^|/)node_modules/(preact|@preact/signals)/",
      },
    },
    {
      name: "only-the-console-imports-it",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^console/" },
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
