export function hiddenClassesOfMessage(): {
  /** Hidden classes that V8 makes for one message. */
  readonly perMessage: number;
  /** Those of a whole process. */
  readonly inAll: number;
};
