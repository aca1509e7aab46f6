/** Texts of the page My account. */

export const meTexts = {
  title: "My account",
  answer: (name: string, role: string) => `You are ${name}, ${role}.`,
  endpoints: {
    title: "Endpoints you can use",
    none: "None yet. An administrator decides which endpoints you can use.",
    columns: { name: "Endpoint", address: "Address", description: "What it is for" },
    copy: "Copy address",
    text: "Give the address to your client. It asks you to log in here, or takes a key of yours.",
  },
  keys: { title: "Keys", text: "Keys let scripts and clients in without a login.", open: "Open my keys" },
  secrets: {
    title: "Secrets for servers",
    text: "A server can use a secret of each person, such as a token of their own. Nobody is ever shown it, you included.",
    none: "You keep no secret here.",
    add: "Add secret",
    columns: { name: "Name", changed: "Changed" },
    name: "Name",
    nameHint: "As the administrator of the server tells you.",
    value: "Value",
    save: "Keep secret",
    saved: (name: string) => `${name} is kept. It counts from the next call on.`,
    remove: "Delete",
    removed: (name: string) => `${name} is deleted`,
    askTitle: (name: string) => `Delete ${name}?`,
    askText: "Servers that need it will ask for it at your next call.",
  },
  password: {
    title: "Password",
    elsewhere: (issuer: string) => `You log in at ${issuer}; there is no password here.`,
    current: "Current password",
    next: "New password",
    hint: "10 characters at least. All your other logins end.",
    save: "Change password",
    saved: "Your password is changed; other logins have ended",
  },
} as const;
