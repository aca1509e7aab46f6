/** What of the official client is used here; the rest of it stays out of the chunk that this becomes. */
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
