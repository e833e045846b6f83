/** What an agent of the gateway answers where it has nothing to say. The gateway hides it from its own chats. */
const silence = 'NO_REPLY';

/** Holds back a text that may become `NO_REPLY`, until it is clear that it does not. */
export class SilentReply {
  #held: string | undefined;

  /** Whether a text is to be held back for now. */
  holds(text: string): boolean {
    const said = text.trim();
    const holds = said !== '' && silence.startsWith(said);
    this.#held = holds ? text : undefined;
    return holds;
  }

  /** The text that was held back, unless it is the silence. Forgets it. */
  take(): string | undefined {
    const held = this.#held;
    this.#held = undefined;
    return held?.trim() === silence ? undefined : held;
  }
}
