import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TerminalScreen } from '../../../../src/sdk/channel/index.js';
import {
  lastScreenRows,
  screenRows,
} from '../../../../src/sdk/channel/terminal/terminal-screen.js';
import { emulatedTerminal } from '../../../support/emulated-terminal.js';

function labOf(columns = 20, height = 8) {
  const terminal = emulatedTerminal(columns, height);
  return { terminal, screen: new TerminalScreen(terminal) };
}

describe('a text that grows on a terminal', () => {
  it('is redrawn in place, and stays once when it is whole', async () => {
    const { terminal, screen } = labOf();
    await terminal.type('what?\n');
    for (const text of ['It', 'It is', 'It is empty,\nI think']) await screen.show(text);
    expect(terminal.rows()).toEqual(['what?', 'It is empty,', 'I think']);
    await screen.finish('It is empty,\nI think.');
    expect(terminal.rows()).toEqual(['what?', 'It is empty,', 'I think.']);
    expect(terminal.cursor()).toEqual({ row: 3, column: 0 });
  });

  it('leaves alone what is typed under it, half a line of it, too', async () => {
    const { terminal, screen } = labOf();
    await screen.show('One');
    await terminal.type('/st');
    await screen.show('One, two and three, and then four');
    expect(terminal.rows()).toEqual(['One, two and three,', 'and then four', '/st']);
    expect(terminal.cursor()).toEqual({ row: 2, column: 3 });
    await screen.show('Two');
    await terminal.type('op');
    await screen.finish('Three');
    expect(terminal.rows()).toEqual(['Three', '/stop']);
  });

  it('stays above a line that was typed and entered while it grew', async () => {
    const { terminal, screen } = labOf();
    await screen.show('One');
    await terminal.type('and this, which is longer than a row\n');
    screen.typed('and this, which is longer than a row');
    await screen.show('One\nTwo');
    await screen.finish('One\nTwo\nThree');
    expect(terminal.rows()).toEqual([
      'One',
      'Two',
      'Three',
      'and this, which is l',
      'onger than a row',
    ]);
    expect(terminal.cursor()).toEqual({ row: 5, column: 0 });
  });

  it('shows its end where it is higher than the screen, and all of it in the end, once', async () => {
    const { terminal, screen } = labOf(20, 8);
    for (let i = 0; i < 6; i++) await screen.print(`before ${i}\n`);
    const lines = Array.from({ length: 30 }, (_, i) => `line ${i}`);
    for (let i = 1; i <= 30; i++) await screen.show(lines.slice(0, i).join('\n'));
    expect(terminal.rows().slice(-2)).toEqual(['line 28', 'line 29']);
    await screen.finish(lines.join('\n'));
    const before = Array.from({ length: 6 }, (_, i) => `before ${i}`);
    expect(terminal.rows()).toEqual([...before, ...lines]);
  });

  it('can be taken away without a trace', async () => {
    const { terminal, screen } = labOf();
    await screen.print('before\n');
    await screen.show('One\nTwo\nThree');
    await terminal.type('half');
    await screen.remove();
    expect(terminal.rows()).toEqual(['before', 'half']);
  });

  it('stands under what is printed while it grows', async () => {
    const { terminal, screen } = labOf();
    await screen.show('One\nTwo');
    await screen.print('a tool ran\n');
    await screen.show('One\nTwo\nThree');
    expect(terminal.rows()).toEqual(['a tool ran', 'One', 'Two', 'Three']);
  });

  it('takes wide, joined and combined characters for what they are', async () => {
    const { terminal, screen } = labOf(10, 8);
    const text = '東京は日本の首都 é👩‍👩‍👧x\tend';
    await screen.show(text);
    await screen.show(`${text}!`);
    await screen.finish('東京は日本の首都');
    expect(terminal.rows()).toEqual(['東京は日本', 'の首都']);
  });

  it('is coloured row by row, without counting the colours', async () => {
    const { terminal, screen } = labOf(10, 8);
    const dim = (line: string): string => `\u001b[2m${line}\u001b[22m`;
    await screen.show('ten chars! and more', dim);
    await screen.finish('ten chars! and more', dim);
    expect(terminal.rows()).toEqual(['ten chars!', ' and more']);
  });

  it('writes nothing where nothing has changed', async () => {
    const { terminal, screen } = labOf();
    await screen.show('One\nTwo');
    const before = terminal.written.length;
    await screen.show('One\nTwo');
    expect(terminal.written).toHaveLength(before);
  });
});

/** What a person would see: a model of the screen without a terminal. */
class Model {
  done: string[] = [];
  block: string[] = [];
  typed: string[] = [];
  half = '';
  readonly #columns: number;
  readonly #height: number;

  constructor(columns: number, height: number) {
    this.#columns = columns;
    this.#height = height;
  }

  /** A block that what was typed has pushed off the screen is out of reach: it stays. */
  leaveBehind(): void {
    if (this.block.length + this.typed.length < this.#height) return;
    this.done.push(...this.block, ...this.typed);
    this.block = [];
    this.typed = [];
  }

  apply({ does, text }: Act): void {
    const rows = screenRows(text, this.#columns);
    const most = Math.max(1, this.#height - 3 - this.typed.length);
    if (does === 'show') this.block = lastScreenRows(text, this.#columns, most);
    if (does === 'type' && this.half.length + 3 < this.#columns) this.half += 'abc';
    if (does === 'enter') {
      if (this.block.length > 0) this.typed.push(this.half);
      else this.done.push(this.half);
      this.half = '';
    }
    if (does === 'remove' || does === 'finish') {
      if (does === 'finish') this.done.push(...rows);
      this.done.push(...this.typed);
      this.block = [];
      this.typed = [];
    }
    if (does === 'print') this.done.push(...rows);
  }

  rows(): string[] {
    const rows = [...this.done, ...this.block, ...this.typed, this.half];
    const all = rows.map((row) => row.replaceAll('\t', '    ').trimEnd());
    while (all.at(-1) === '') all.pop();
    return all;
  }
}

const act = fc.record({
  does: fc.constantFrom('show', 'show', 'show', 'type', 'enter', 'finish', 'remove', 'print'),
  text: fc
    .array(fc.constantFrom('a', 'bc ', '\n', '東', 'é', 'word ', '한', 'x'.repeat(9)), {
      minLength: 1,
      maxLength: 14,
    })
    .map((pieces) => pieces.join('')),
});

type Act = typeof act extends fc.Arbitrary<infer T> ? T : never;

it('shows what a person expects, whatever grows, is typed, printed and taken away, and however small the screen', async () => {
  const size = fc.record({
    columns: fc.integer({ min: 8, max: 24 }),
    height: fc.integer({ min: 7, max: 14 }),
  });
  await fc.assert(
    fc.asyncProperty(size, fc.array(act, { maxLength: 16 }), async ({ columns, height }, acts) => {
      const { terminal, screen } = labOf(columns, height);
      const model = new Model(columns, height);
      for (const one of acts) {
        if (!['type', 'enter'].includes(one.does)) model.leaveBehind();
        // without a block what is printed lands where the cursor is: on a fresh line, as the host's own output does
        const isFree = model.block.length === 0;
        if (isFree && model.half !== '' && ['print', 'finish', 'show'].includes(one.does)) continue;
        if (isFree && one.does === 'remove') continue;
        if (model.typed.length > 2 && one.does === 'enter') continue; // more than the screen can hold under the block
        const typedNow = one.does === 'type' && model.half.length + 3 < columns;
        const entered = model.half;
        model.apply(one);
        if (one.does === 'show') await screen.show(one.text);
        if (one.does === 'finish') await screen.finish(one.text);
        if (one.does === 'remove') await screen.remove();
        if (one.does === 'print') await screen.print(`${one.text}\n`);
        if (typedNow) await terminal.type('abc');
        if (one.does === 'enter') {
          await terminal.type('\n');
          screen.typed(entered);
        }
        expect(terminal.rows()).toEqual(model.rows());
      }
    }),
    { numRuns: 300 },
  );
});
