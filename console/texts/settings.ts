/** Texts of the page Settings. */

export const settingsTexts = {
  title: "Settings",
  answer: "What holds for every endpoint of this gateway.",
  pipeline: "Pipeline of the gateway",
  limits: "Limits of the gateway",
  registration: "OAuth clients",
  registrationLabel: "Clients that register themselves",
  registrations: { open: "allowed: any MCP client can ask a person to log in", closed: "refused" },
  issuers: "Outside issuers",
  issuersHint:
    "Tokens of these authorization servers open endpoints, where their audience is the endpoint's address.",
  issuer: "Issuer",
  algorithms: "Algorithms",
  algorithmsHint: "Separated by commas, such as RS256, ES256.",
  jwksUri: "Address of its keys",
  groupsClaim: "Claim with groups",
  addIssuer: "Add issuer",
  removeIssuer: "Remove issuer",
  save: "Save",
  config: "Config as text",
  configText: "Servers, namespaces, endpoints and settings as one document, without secrets.",
  download: "Download JSON",
} as const;
