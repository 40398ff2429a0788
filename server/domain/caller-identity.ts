/** Who made a call, as it is logged and kept with what the call has made. Null: not known. */
export type CallerIdentity = {
  /** The claim `sub` of the access token, or its `client_id`. */
  readonly subject: string | null;
  /** The claim `jti` of the access token. */
  readonly tokenId: string | null;
  /** The IP address from which the call came. */
  readonly address: string | null;
};
