/** Who made a call, as it is logged and kept with what the call has made. Null: not known. */
export type CallerIdentity = {
  /** The claims `sub`, `client_id` and `jti` of the access token. */
  readonly subject: string | null;
  readonly clientId: string | null;
  readonly tokenId: string | null;
  /** The IP address from which the call came. */
  readonly address: string | null;
};
