import type { JournalReader } from '../../src/journal/index.js';

/** All that a test has. */
export const every = { limit: 100_000 };

/** The acts of hosts, with the milliseconds since the begin: a test that fails once prints those that explain it. */
export class History {
  readonly #lines: string[] = [];
  readonly #fromMs = Date.now();
  /** The messages of questions to humans, by the beginnings of their ids. */
  readonly #questions = new Map<string, string>();

  note(pid: number | undefined, what: string): void {
    this.#lines.push(`${Date.now() - this.#fromMs} ${pid} ${what}`);
  }

  /** Notes that a question was asked. @param message of which it is. */
  asked(question: string, message: string): void {
    this.#questions.set(question.slice(0, 8), message);
  }

  messageOf(question: string): string | undefined {
    return this.#questions.get(question.slice(0, 8));
  }

  last(): string {
    return this.#lines.slice(-5).join('\n');
  }

  /** Prints all that is known of the messages that an error names, and of the hosts. */
  async explain(error: unknown, reader: Pick<JournalReader, 'updates' | 'sends'>): Promise<void> {
    const updates = await reader.updates({ ...every, withoutBody: true });
    const sends = await reader.sends(every);
    const { message, actual } = Object(error); // of an assertion
    const text = `${message} ${JSON.stringify(actual)}`;
    const isIn = (line: string, word: string): boolean =>
      new RegExp(`(?<![\\w-])${word}(?!\\d|-\\d)`).test(line);
    const named = updates.filter(({ updateId = '?' }) => isIn(text, updateId));
    const words = named.slice(0, 4).flatMap(({ eventId, updateId: id = '' }) => {
      const question = /^(?:press|command) (.{8})/.exec(id)?.[1];
      const of = [...this.#questions].filter(([one, its]) => one === question || its === id);
      return [eventId, question ?? id, ...of.flat()];
    });
    const told = new Set<string>(); // a host may say one thing often
    const isNew = (line: string): boolean => told.size < told.add(line.replace(/\d+/, '')).size;
    const isNamed = (line: string): boolean => words.some((word) => isIn(line, word));
    const rows = [...updates, ...sends.map(({ body: _, ...send }) => send)];
    const lines = [
      `${named.length} messages are named; of ${words.join(', ')}:`,
      ...rows.map((row) => JSON.stringify(row)).filter(isNamed),
      ...this.#lines.filter(
        (line) => (/^\d+ \d+ ([a-zS]|\{"log)/.test(line) && isNew(line)) || isNamed(line),
      ),
    ];
    console.log(lines.join('\n'));
  }
}
