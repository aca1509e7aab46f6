/** Exports the used parts of the official client, so that the bundler leaves out the rest. */
export {
  assertSecureTokenEndpoint,
  checkResourceAllowed,
  discoverOAuthServerInfo,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  IssuerMismatchError,
  OAuthError,
  RegistrationRejectedError,
  refreshAuthorization,
  registerClient,
  resourceUrlFromServerUrl,
  selectClientAuthMethod,
  startAuthorization,
  validateAuthorizationResponseIssuer,
  validateClientMetadataUrl,
} from "@modelcontextprotocol/client";
