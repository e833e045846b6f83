import { type ComponentChildren, html, useEffect, useRef, useState } from '../vendor/preact.js';
import { get } from './client.js';
import type { Message } from './shapes.js';
import { clockOf, type Finer, plain } from './words.js';

export { counted, nameOf, plain, span } from './words.js';

const shownAtOnce = 20_000;

/** A long text from outside: its beginning, and the rest on demand. */
export function LongText({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > shownAtOnce;
  const shown = plain(isLong && !isWhole ? text.slice(0, shownAtOnce) : text);
  return html`<pre class="text" tabindex="0"><bdi>${shown}</bdi></pre>
    ${
      isLong &&
      !isWhole &&
      html`<button type="button" onClick=${() => setWhole(true)}>
          Show all ${text.length} characters
        </button>`
    }`;
}

/** A short text from outside. */
export function Text({ of }: { readonly of: string | undefined }) {
  return html`<bdi>${plain(of ?? '')}</bdi>`;
}

/** A time, with the whole of it as a hint. */
export function Time({ ms, isExact = false }: { readonly ms: number; readonly isExact?: boolean }) {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return html`<span>no time</span>`;
  const iso = date.toISOString();
  const finer: Finer = isExact
    ? { second: '2-digit', fractionalSecondDigits: 3 }
    : { second: '2-digit' };
  return html`<time datetime=${iso} title=${iso}>${clockOf(ms, finer)}</time>`;
}

/** How something ended, in its color. */
export function Status({ of }: { readonly of: string }) {
  return html`<span class="status ${toneOf(of)}">${plain(of)}</span>`;
}

function toneOf(status: string): string {
  if (/cancel|fail|dead|denied|refused|disabled|error|threw|timed/.test(status)) return 'bad';
  if (/would|quarantin|pending|asked|abort|expired|warning|differ/.test(status)) return 'odd';
  if (/passed|answered|sent|allowed|loaded|ok|ended/.test(status)) return 'good';
  return 'calm';
}

/** The address of a view. Half a character, as a text may have that was cut, has no place in an address. */
export function linkTo(view: string, argument: string): string {
  return `#/${view}/${encodeURIComponent(argument.replace(/\p{Surrogate}/gu, '\ufffd'))}`;
}

/** A link to the timeline of a message, or to one event on it. */
export function IdLink({ id }: { readonly id: string }) {
  return html`<a class="id" href=${linkTo('why', id)}>${plain(id)}</a>`;
}

/** The writer of a message, and what was said. */
export function Said({ message }: { readonly message: Message | undefined }) {
  const { sender, conversation, agentId, text } = message ?? {};
  if (sender === undefined) return null;
  return html`<p>
      <b><${Text} of=${sender} /></b> wrote in <${Text} of=${conversation} />${agentId && html`, to the agent <${Text} of=${agentId} />`}
    </p>
    ${text !== undefined && html`<blockquote><${Text} of=${text} /></blockquote>`}`;
}

/** A button for a change. A grave one asks again, in its own place. */
export function Action({
  label,
  isGrave = false,
  run,
}: {
  readonly label: string;
  readonly isGrave?: boolean;
  readonly run: () => Promise<unknown>;
}) {
  const [state, setState] = useState<'ready' | 'sure' | 'busy'>('ready');
  const [problem, setProblem] = useState('');
  const press = (): void => {
    if (isGrave && state === 'ready') {
      setState('sure');
      return;
    }
    setState('busy');
    setProblem('');
    run()
      .catch((error: unknown) => setProblem(messageOf(error)))
      .finally(() => setState('ready'));
  };
  return html`<button
      type="button"
      class=${state === 'sure' ? 'sure' : ''}
      disabled=${state === 'busy'}
      onClick=${press}
      onBlur=${() => state === 'sure' && setState('ready')}
    >
      ${state === 'sure' ? `Really ${label.toLowerCase()}?` : label}
    </button>
    ${problem !== '' && html`<span role="alert" class="bad">${plain(problem)}</span>`}`;
}

/** Hears what is typed into a field. */
export function typed(set: (text: string) => void) {
  return ({ currentTarget }: { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
    set(currentTarget.value);
}

/** Something more, behind a click. */
export function Behind({
  label,
  children,
}: {
  readonly label: string;
  readonly children?: ComponentChildren;
}) {
  const [isOpen, setOpen] = useState(false);
  return html`<button type="button" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>
      ${label}
    </button>
    ${isOpen ? children : null}`;
}

/** The text of an error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Data of the server that is loaded, again each so many milliseconds if the view stays open, and when `again` is called. */
export function useLoaded<T>(
  name: string,
  query: Readonly<Record<string, string>> = {},
  everyMs?: number,
) {
  const key = `${name} ${JSON.stringify(query)}`;
  const shown = useRef(key);
  shown.current = key;
  const [loaded, setLoaded] = useState<{ readonly key: string; readonly value: T } | undefined>(
    undefined,
  );
  const [problem, setProblem] = useState('');
  const [round, setRound] = useState(0);
  const again = (): void => setRound((count) => count + 1);
  useEffect(() => {
    let isNewest = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    get<T>(name, query)
      .then(
        (value) => {
          if (shown.current !== key) return;
          setLoaded({ key, value }); // also if it is asked for again meanwhile: a slow answer is shown
          setProblem('');
        },
        (error: unknown) => isNewest && setProblem(messageOf(error)),
      )
      .finally(() => {
        if (isNewest && everyMs !== undefined) timer = setTimeout(again, everyMs);
      });
    return () => {
      isNewest = false;
      clearTimeout(timer);
    };
  }, [key, round]);
  return { value: loaded?.key === key ? loaded.value : undefined, problem, again };
}

/** A view with its heading, and the reason if its data could not be loaded. */
export function View({
  title,
  problem = '',
  children,
}: {
  readonly title: string;
  readonly problem?: string;
  readonly children?: ComponentChildren;
}) {
  return html`<section aria-labelledby="view-title">
    <h1 id="view-title" tabindex="-1">${title}</h1>
    ${problem !== '' && html`<p role="alert" class="bad">${plain(problem)}</p>`} ${children}
  </section>`;
}
