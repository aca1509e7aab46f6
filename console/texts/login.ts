/** Texts of the pages before a login. */

export const loginTexts = {
  password: { label: "Password", hint: "At least 10 characters." },
  login: {
    title: "Log in",
    email: "E-mail address",
    password: "Password",
    submit: "Log in",
    oidc: "Log in with your organisation",
    or: "or",
    noAdministrator: "This gateway has no administrator yet.",
    findLink: "Open the link that the gateway printed when it started. It begins with this address:",
    ended: "Log in to continue.",
  },
  setup: {
    title: "Create the first administrator",
    text: "This account decides which servers run and who may use them.",
    noCode: "This link has no code.",
    noCodeText:
      "The gateway prints the complete link when it starts. Each start prints a new link until one is used.",
    gone: "This link is no longer valid",
    email: "Your e-mail address",
    submit: "Create account",
  },
  invitation: {
    title: "You are invited",
    text: (email: string) => `Choose a password for ${email}.`,
    submit: "Accept invitation",
    gone: "This invitation is no longer valid",
    goneText: "It was used or revoked, or is older than a week. Ask an administrator for a new one.",
  },
} as const;
