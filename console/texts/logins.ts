/** Texts about logins at servers: one's own, and the one that all share. */

export const loginTexts = {
  title: "Logins at servers",
  text: "Some servers let each person in as themselves. Log in here once; your clients use it from then on.",
  none: "No server that you can use asks for a login of your own.",
  columns: { server: "Server", state: "State" },
  states: {
    active: "logged in",
    none: "not logged in",
    expired: "login expired",
    ready: "ready",
    missing: "needs a secret",
    unusable: "cannot be used",
  },
  at: (issuer: string) => `at ${issuer}`,
  since: "since",
  renews: "renewed by itself",
  until: "ends",
  missing: (names: readonly string[]) => names.join(", "),
  wanted: (scopes: readonly string[]) => `log in again to allow ${scopes.join(", ")}`,
  logIn: "Log in",
  logInAgain: "Log in again",
  addSecret: "Add secret",
  logOut: "Log out",
  loggedOut: (server: string) => `You are logged out at ${server}`,
  askTitle: (server: string) => `Log out at ${server}?`,
  askText: "Your connections to it end. Its tools stay unusable for you until you log in again.",
  shared: {
    key: "Login of the gateway",
    loggedOut: (server: string) => `The gateway is logged out at ${server}`,
    askText:
      "Its connection ends. Its tools stay unusable for everybody until an administrator logs in again.",
  },
  own: "Your login",
  secrets: "Open my secrets",
} as const;
