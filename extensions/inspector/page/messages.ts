import { html, useEffect, useRef, useState } from '../vendor/preact.js';
import { about, get, listen } from './client.js';
import { linkTo, messageOf, plain, Status, span, Text, Time, typed, View } from './parts.js';
import type { MessagePart, Row } from './shapes.js';
import { VirtualList } from './virtual-list.js';

interface Found {
  readonly rows: readonly (Row | MessagePart)[];
  readonly before?: number;
  readonly last: number;
}

const lookEveryMs = 1_000;
/** Lines that the page holds; what is older is read again when it is scrolled to. */
const keptAtMost = 20_000;

/** The messages or facts of a search, as far as they are known, and what it is doing about more. */
function useFound(of: 'messages' | 'list', query: string) {
  const [found, setFound] = useState<Found | undefined>(undefined);
  const [fresh, setFresh] = useState(0);
  const [problem, setProblem] = useState('');
  const [words, setWords] = useState(query);
  const [isLooking, setLooking] = useState(false);
  const now = useRef<Found | undefined>(undefined);
  const isBusy = useRef(false);
  const isAtTop = useRef(true);
  const key = `${of}/${query}`;
  const shown = useRef(key);
  const isOf = shown.current === key; // else it still holds what another search has found

  /** Reads the newest, what is older than all, or what is newer. The answer to an earlier search is not for this one. */
  const load = async (way: 'older' | 'newer'): Promise<void> => {
    if (isBusy.current && shown.current === key) return;
    isBusy.current = true;
    shown.current = key;
    const known = now.current;
    const { before, last } = known ?? {};
    const isNewer = way === 'newer' && last !== undefined;
    const place: Readonly<Record<string, string>> = isNewer
      ? { after: String(last) }
      : before === undefined
        ? {}
        : { before: String(before) };
    setLooking(!isNewer);
    try {
      const part = await get<Found>(of, { q: query, ...place });
      if (shown.current !== key || now.current !== known) return;
      now.current = known === undefined ? part : joined(known, part, isNewer);
      setFound(now.current);
      if (isNewer || known === undefined) setFresh(0);
      setProblem('');
    } catch (error) {
      if (shown.current === key) setProblem(messageOf(error));
    } finally {
      if (shown.current === key) {
        isBusy.current = false;
        setLooking(false);
      }
    }
  };

  useEffect(() => {
    if (shown.current !== key) setWords(query); // not at first: somebody may type already
    setFound(undefined);
    setFresh(0);
    now.current = undefined;
    void load('older');
    if (query !== '') return;
    let waiting: ReturnType<typeof setTimeout> | undefined;
    const stop = listen((count) => {
      setFresh((sum) => sum + count);
      waiting ??= setTimeout(() => {
        waiting = undefined;
        if (isAtTop.current) void load('newer');
      }, lookEveryMs);
    });
    return () => {
      stop();
      clearTimeout(waiting);
    };
  }, [key]);
  return {
    found: isOf ? found : undefined,
    fresh,
    problem,
    words,
    setWords,
    isLooking,
    isAtTop,
    load,
  };
}

/** The messages, newest first, as they happen; or the entries, all or those that a search finds. */
export function Messages({
  of,
  query,
}: {
  readonly of: 'messages' | 'list';
  readonly query: string;
}) {
  const { found, fresh, problem, words, ...search } = useFound(of, query);
  const { setWords, isLooking, isAtTop, load } = search;

  const { rows = [], before } = found ?? {};
  const lines = rows.filter((one) => 'seq' in one || one.state !== undefined);
  const row = (at: number) => {
    const one = lines[at];
    if (one === undefined) return null;
    return 'seq' in one ? html`<${EntryLine} row=${one} />` : html`<${MessageLine} row=${one} />`;
  };
  const name = of === 'list' ? 'fact' : 'message';
  const count = `${lines.length} ${name}${lines.length === 1 ? '' : 's'}`;
  return html`<${View} title="Messages" problem=${problem}>
    <form
      role="search"
      class="bar"
      onSubmit=${(event: Event) => {
        event.preventDefault();
        location.hash = words.trim() === '' ? '#/messages' : linkTo('facts', words);
      }}
    >
      <label for="search">Search</label>
      <input
        id="search"
        type="search"
        autocomplete="off"
        spellcheck="false"
        placeholder="an id, or session: family: extension: code: status: kind:${about.value?.text ? ' text:' : ''}"
        value=${words}
        onInput=${typed(setWords)}
      />
      <button>Find</button>
      ${of === 'list' ? html`<a href="#/messages">Messages alone</a>` : html`<a href="#/facts/">All facts</a>`}
      ${
        fresh > 0 &&
        !isAtTop.current &&
        html`<button type="button" onClick=${() => load('newer')}>${fresh} new facts</button>`
      }
      ${
        before !== undefined &&
        !isLooking &&
        html`<button type="button" onClick=${() => load('older')}>Look further back</button>`
      }
    </form>
    <p class="quiet" role="status">
      ${
        isLooking || found === undefined
          ? 'Looking…'
          : plain(
              `${count}${before === undefined ? '' : ' so far'}${query === '' ? '' : ` for ${query}`}`,
            )
      }
    </p>
    <${VirtualList}
      count=${lines.length}
      label="${of === 'list' ? 'Facts' : 'Messages'}, newest first"
      row=${row}
      onEnd=${() => before !== undefined && !isLooking && void load('older')}
      onTop=${(is: boolean) => {
        isAtTop.current = is;
        if (is && fresh > 0) void load('newer');
      }}
    />
  <//>`;
}

/** Puts a part beside what is known. Entries are apart; what two parts know of a message is added up. */
function joined(known: Found, part: Found, isNewer: boolean): Found {
  const [newer, older] = isNewer ? [part, known] : [known, part];
  const rows = new Map<string | number, Row | MessagePart>();
  for (const one of [...newer.rows, ...older.rows]) {
    const key = 'seq' in one ? one.seq : one.id;
    const before = rows.get(key);
    rows.set(
      key,
      before === undefined || 'seq' in before || 'seq' in one ? one : sumOf(one, before),
    );
  }
  const all = [...rows.values()];
  if (part.rows.some((one) => !('seq' in one)))
    all.sort((one, other) => beganOf(other) - beganOf(one));
  const { before } = isNewer ? known : part;
  const last = Math.max(known.last, part.last);
  const kept = isNewer ? all.slice(0, keptAtMost) : all;
  const end = kept.at(-1);
  // what fell out of a list of entries can be read again; messages are small, and come once
  const from = kept.length < all.length && end !== undefined && 'seq' in end ? end.seq : before;
  return { rows: kept, last, ...(from !== undefined && { before: from }) };
}

function sumOf(older: MessagePart, newer: MessagePart): MessagePart {
  const { fromMs = newer.fromMs } = older;
  return {
    ...{ ...older, ...newer },
    ...(fromMs !== undefined && { fromMs }),
    cancels: older.cancels + newer.cancels,
    failures: older.failures + newer.failures,
  };
}

function beganOf(row: Row | MessagePart): number {
  return 'seq' in row ? row.atMs : (row.fromMs ?? 0);
}

function MessageLine({ row }: { readonly row: MessagePart }) {
  const { id, fromMs = 0, toMs = fromMs, state = '', channel, cancels, failures } = row;
  const isOpen = /^(?:accepted|begun|given-back|left)$/.test(state);
  const counted = (count: number, name: string): string =>
    count === 0 ? '' : `${count} ${name}${count === 1 ? '' : 's'}`;
  const trouble = [counted(cancels, 'cancel'), counted(failures, 'failure')].filter(Boolean);
  return html`<a class="line" href=${linkTo('why', id)}>
    <${Time} ms=${fromMs} /> <span class="kind"><${Text} of=${channel} /></span>
    <span class="name">${isOpen ? 'since then' : `took ${span(toMs - fromMs)}`}</span>
    <${Status} of=${state} />
    <span class="who bad">${trouble.join(', ')}</span>
    <span class="id"><${Text} of=${id} /></span>
  </a>`;
}

function EntryLine({ row }: { readonly row: Row }) {
  const { atMs, kind, id, name, status, who, code, correlationId } = row;
  const target = kind === 'dispatch' ? id : correlationId || id;
  return html`<a class="line" href=${linkTo('why', target)}>
    <${Time} ms=${atMs} /> <span class="kind">${kind}</span>
    <span class="name"><${Text} of=${name} /></span>
    ${status === undefined ? html`<span></span>` : html`<${Status} of=${status} />`}
    <span class="who">${plain([who, code].filter((one) => one !== undefined).join(' '))}</span>
    <span class="id"><${Text} of=${target} /></span>
  </a>`;
}
