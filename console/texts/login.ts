/** Texts of the pages before a login. */

export const loginTexts = {
  password: { label: "Password", hint: "10 characters at least." },
  login: {
    title: "Log in",
    email: "E-mail address",
    password: "Password",
    submit: "Log in",
    oidc: "Log in with your organisation",
    or: "or",
    noAdministrator: "This gateway has no administrator yet.",
    findLink: "Open the link that it printed when it started. It begins with this address:",
    ended: "Log in to go on where you were.",
  },
  setup: {
    title: "Create the first administrator",
    text: "Whoever has this account decides which servers run and who may use them.",
    noCode: "This link lacks its code.",
    noCodeText:
      "The gateway prints the whole link when it starts. A new one is made at each start until somebody used it.",
    email: "Your e-mail address",
    submit: "Create account",
  },
  invitation: {
    title: "You are invited",
    text: (email: string) => `Choose a password for ${email}.`,
    submit: "Accept invitation",
    gone: "This invitation is not valid any more",
    goneText: "It was used, taken back, or is older than a week. Ask an administrator for a new one.",
  },
} as const;
