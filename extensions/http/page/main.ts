import { type Entry, History, newName } from './history.js';
import {
  type AnswerPart,
  type Button,
  type Host,
  Problem,
  press,
  readModels,
  say,
} from './host.js';
import { GrowingText } from './markdown.js';

/** An element of the page. */
function at<E extends HTMLElement>(id: string): E {
  return document.getElementById(id) as E; // the page has it
}

const log = at('log');
const text = at<HTMLTextAreaElement>('text');
const key = at<HTMLInputElement>('key');
const model = at<HTMLSelectElement>('model');
const history = new History();
/** What is being answered, by the way to stop it. */
const running = new Map<AbortController, Entry>();
/** The reason of a stop that nobody has to be told. */
const anew = {};

const host: Host = {
  key: () => key.value,
  keyMissing: () => {
    at('keyed').hidden = false;
    key.focus();
  },
};

/** Changes the log. The end stays in sight of who has seen it. */
function change(how: () => void): void {
  const isLow = log.scrollHeight - log.scrollTop - log.clientHeight < 80;
  how();
  at('empty').hidden = log.querySelector('article') !== null;
  if (isLow) log.scrollTop = log.scrollHeight;
}

function show(kind: string, words = '', before?: Element): HTMLElement {
  const line = document.createElement('article');
  line.className = kind;
  line.textContent = words;
  change(() => (before === undefined ? log.append(line) : before.before(line)));
  return line;
}

/** An answer on the page. It is drawn at most once for each picture of the screen. */
class AnswerView {
  readonly #working: HTMLElement;
  #thinking: HTMLElement | undefined;
  #line: HTMLElement | undefined;
  #growing: GrowingText | undefined;
  #isDue = false;
  text = '';

  constructor(before?: Element) {
    this.#working = show('working', 'Working', before);
  }

  take({ content = '', thinking = '', questions = [] }: AnswerPart): void {
    if (thinking !== '') {
      this.#thinking ??= show('agent thinking', '', this.#working);
      change(() => this.#thinking?.append(thinking));
    }
    if (content !== '') {
      this.#write(content);
      this.#drawSoon();
    }
    for (const buttons of questions) this.#ask(buttons);
  }

  /** The answer has ended: it is drawn as a whole. */
  end(): void {
    this.#isDue = false;
    change(() => {
      this.#growing?.end();
      this.#working.remove();
    });
    this.#line?.removeAttribute('aria-busy');
  }

  /** What was shown counts for nothing. @returns the line that tells why. */
  fail(error: unknown): HTMLElement {
    const line = tell(error, this.#working);
    this.end();
    change(() => {
      this.#line?.remove();
      this.#thinking?.remove();
    });
    return line;
  }

  #write(content: string): void {
    if (this.#line === undefined) {
      this.#line = show('agent', '', this.#working);
      this.#line.setAttribute('aria-busy', 'true'); // a reader of the screen waits for its end
      const words = document.createElement('div');
      words.className = 'text';
      this.#line.append(words);
      this.#growing = new GrowingText(words);
    }
    this.text += content;
    this.#growing?.add(content);
  }

  #drawSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      if (this.#isDue) change(() => this.#growing?.draw());
      this.#isDue = false;
    });
  }

  #ask(buttons: readonly Button[]): void {
    this.#write('');
    const group = document.createElement('div');
    group.className = 'question';
    group.setAttribute('role', 'group');
    group.setAttribute('aria-label', 'Answers');
    group.append(
      ...buttons.map(({ id, label }) => {
        const button = document.createElement('button');
        button.type = 'button';
        button.textContent = label;
        button.addEventListener('click', () => {
          change(() => group.remove());
          text.focus();
          press(host, history.conversation, id).catch((error: unknown) => {
            tell(error);
            change(() => this.#line?.append(group)); // nobody has the answer
          });
        });
        return button;
      }),
    );
    change(() => this.#line?.append(group));
  }
}

function tell(error: unknown, before?: Element): HTMLElement {
  if (!(error instanceof Problem)) console.error(error);
  const words = error instanceof Problem ? error.message : 'The page failed: reload it.';
  return show('error', words, before);
}

/** Puts a button under a problem that does not end a message: the message keeps its key, so it is said once. */
function offerAgain(entry: Entry, line: HTMLElement): void {
  const again = document.createElement('button');
  again.type = 'button';
  again.textContent = 'Ask again';
  again.addEventListener('click', () => {
    void answer(entry, line);
    line.remove();
    text.focus();
  });
  change(() => line.append(' ', again));
}

/** Has a message answered, and shows its answer while it grows. */
async function answer(entry: Entry, before?: Element): Promise<void> {
  const stop = new AbortController();
  running.set(stop, entry);
  at('stop').hidden = false;
  const view = new AnswerView(before);
  try {
    const { conversation } = history;
    for await (const part of say(host, { ...entry, conversation, signal: stop.signal }))
      view.take(part);
    view.end();
    entry.answer = view.text;
  } catch (error) {
    if (stop.signal.aborted) {
      view.end();
      Object.assign(entry, { answer: view.text, problem: 'Stopped.' });
      if (stop.signal.reason !== anew) show('error', entry.problem);
    } else {
      const line = view.fail(error);
      if (error instanceof Problem && error.isEnd) entry.problem = error.message;
      else offerAgain(entry, line);
    }
  }
  running.delete(stop);
  at('stop').hidden = running.size === 0;
  if (stop.signal.reason !== anew) history.save();
}

/** Stops the turns of the conversation, of each model. Each message has a key, so that a turn goes on without its reader. */
function stopAll(reason?: object): void {
  const { conversation } = history;
  for (const model of new Set([...running.values()].map((entry) => entry.model)))
    void (async () => {
      for await (const _ of say(host, { conversation, model, text: '/stop', key: newName() }));
    })().catch(() => undefined); // the reader has gone in any case
  for (const stop of running.keys()) stop.abort(reason);
}

async function showModels(): Promise<void> {
  model.replaceChildren(...(await readModels(host)).map((id) => new Option(id)));
}

at('say').addEventListener('submit', (event) => {
  event.preventDefault();
  const words = text.value.trim();
  if (words === '') return;
  text.value = '';
  text.focus();
  void (async () => {
    try {
      if (model.value === '') await showModels();
    } catch (error) {
      text.value = words; // it is not said
      tell(error);
      return;
    }
    show('you', words);
    await answer(history.add(model.value, words));
  })();
});
text.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  at<HTMLFormElement>('say').requestSubmit();
});
at('stop').addEventListener('click', () => stopAll());
at('anew').addEventListener('click', () => {
  stopAll(anew);
  history.begin();
  change(() => {
    for (const line of log.querySelectorAll('article')) line.remove();
  });
  text.focus();
});
key.addEventListener('change', () => {
  showModels().catch((error: unknown) => void tell(error));
  for (const again of log.querySelectorAll<HTMLButtonElement>('.error button')) again.click();
});
text.focus();
log.tabIndex = 0; // it scrolls: a keyboard has to reach it
at('unproven').hidden = document.documentElement.dataset['keys'] !== 'no';

/** Shows what was said before a reload. An answer that had not ended is asked for again, under its key. */
async function restore(): Promise<void> {
  for (const entry of history.entries) {
    show('you', entry.text);
    if (entry.answer === undefined && entry.problem === undefined) void answer(entry);
    else if (entry.answer) {
      const view = new AnswerView();
      view.take({ content: entry.answer });
      view.end();
    }
    if (entry.problem !== undefined) show('error', entry.problem);
  }
  await showModels();
}
restore().catch((error: unknown) => void tell(error));
