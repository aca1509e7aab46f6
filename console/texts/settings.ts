/** Texts of the page Settings. */

export const settingsTexts = {
  title: "Settings",
  summary: "These settings apply to every endpoint.",
  pipeline: "Pipeline of the gateway",
  limits: "Limits of the gateway",
  registration: "OAuth clients",
  registrationLabel: "Dynamic client registration",
  registrations: { open: "allowed: any MCP client can ask a person to log in", closed: "refused" },
  issuers: "Other issuers",
  issuersHint:
    "Endpoints accept tokens of these authorization servers if their audience is the endpoint's address.",
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
