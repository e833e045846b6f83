/** The conversation of this tab: it is there again after a reload. Another tab has another one. */

/** One message of the person, with the end of its answer. */
export interface Entry {
  readonly key: string;
  readonly model: string;
  readonly text: string;
  /** The answer in Markdown; nothing as long as it has not ended. */
  answer?: string;
  /** The problem in words that has ended it, in place of an answer or behind it. */
  problem?: string;
}

/** Characters that are kept; the oldest entries go first. */
const charactersAtMost = 1_000_000;

/** A name that nobody guesses. */
export function newName(): string {
  return String(crypto.getRandomValues(new Uint32Array(4))); // also without TLS
}

export class History {
  conversation: string;
  entries: Entry[];

  constructor() {
    const kept = sessionStorage.getItem('chat');
    const read: Partial<History> = kept === null ? {} : JSON.parse(kept);
    this.conversation = read.conversation ?? newName();
    this.entries = read.entries ?? [];
  }

  add(model: string, text: string): Entry {
    const entry = { key: newName(), model, text };
    this.entries.push(entry);
    this.save();
    return entry;
  }

  begin(): void {
    this.conversation = newName();
    this.entries = [];
    this.save();
  }

  save(): void {
    const { conversation } = this;
    let text = JSON.stringify({ conversation, entries: this.entries });
    while (text.length > charactersAtMost && this.entries.length > 1) {
      this.entries.shift();
      text = JSON.stringify({ conversation, entries: this.entries });
    }
    try {
      sessionStorage.setItem('chat', text);
    } catch {
      sessionStorage.removeItem('chat'); // there is no room: a reload begins with an empty page
    }
  }
}
