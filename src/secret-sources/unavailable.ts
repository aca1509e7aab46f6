/** Why a secret could not be had. The message says how to mend it and contains no secret. */
export class SecretUnavailable extends Error {
  override readonly name = "SecretUnavailable";
  /** What keeps it was not reached, so a later attempt may succeed. */
  readonly offline: boolean;

  constructor(message: string, { offline = false, cause }: { offline?: boolean; cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.offline = offline;
  }
}
