/** Texts of the page My account. */

export const meTexts = {
  title: "My account",
  summary: (name: string, role: string) => `You are ${name}, ${role}.`,
  endpoints: {
    title: "Connect your client",
    none: "You cannot use an endpoint yet. Ask an administrator.",
    endpoint: "Endpoint",
    copy: "Copy address",
    tools: {
      title: "Your tools",
      search: "Search your tools",
      none: "No tools are known here yet. They appear when a server has been started.",
      tryIt: "Try a tool",
      columns: { name: "Tool", description: "What it does" },
    },
    calls: {
      title: "Your last calls",
      none: "No calls yet.",
      columns: { at: "When", what: "What", outcome: "Outcome", took: "Took" },
    },
  },
  keys: {
    title: "Keys",
    text: "Scripts and clients can use a key instead of a login.",
    open: "Open my keys",
  },
  secrets: {
    title: "Secrets for servers",
    text: "A server can use your own secret, such as a personal token. Nobody can read it again, not even you.",
    none: "You have no secrets.",
    add: "Add secret",
    columns: { name: "Name", changed: "Changed" },
    name: "Name",
    nameHint: "The administrator of the server tells you the name.",
    value: "Value",
    save: "Save secret",
    saved: (name: string) => `${name} is saved. The next call uses it.`,
    remove: "Delete",
    removed: (name: string) => `${name} is deleted`,
    askTitle: (name: string) => `Delete ${name}?`,
    askText: "Servers that need it will ask for it at your next call.",
  },
  password: {
    title: "Password",
    elsewhere: (issuer: string) => `You log in at ${issuer}, so you have no password here.`,
    current: "Current password",
    next: "New password",
    hint: "At least 10 characters. All your other logins end.",
    save: "Change password",
    saved: "Your password is changed; other logins have ended",
  },
} as const;
