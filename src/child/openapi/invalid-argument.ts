/** An argument that cannot be sent. The caller gets the message; it does not contain the value. */
export class InvalidArgument extends Error {
  constructor(argument: string, problem: string) {
    super(`${argument} ${problem}`);
  }
}
