import { html, useEffect, useRef, useState } from '../vendor/preact.js';
import { about, get, listen } from './client.js';
import { messageOf, plain, Status, Text, Time, View } from './parts.js';
import type { Row } from './shapes.js';
import { VirtualList } from './virtual-list.js';

interface Found {
  /** The words that it answers. */
  readonly query?: string;
  readonly rows: readonly Row[];
  readonly before?: number;
}

/** All facts, newest first, as they happen; or those that a search finds. */
export function Messages({ query }: { readonly query: string }) {
  const [found, setFound] = useState<Found>({ rows: [] });
  const [fresh, setFresh] = useState(0);
  const [problem, setProblem] = useState('');
  const [words, setWords] = useState(query);
  const [isLooking, setLooking] = useState(true);
  const isAtTop = useRef(true);
  const asked = useRef(0);
  const shown = useRef(query);

  /** Reads the newest, or what is older than a record. The answer to an earlier question is not for this one. */
  const load = async (before?: number): Promise<void> => {
    const own = ++asked.current;
    setLooking(true);
    try {
      const from = before === undefined ? {} : { before: String(before) };
      const { rows, ...rest } = await get<Found>('list', { q: query, ...from });
      if (own !== asked.current) return;
      setFound((now) => ({
        ...{ query, rows: before === undefined ? rows : [...now.rows, ...rows] },
        ...rest,
      }));
      if (before === undefined) setFresh(0);
      setProblem('');
    } catch (error) {
      if (own === asked.current) setProblem(messageOf(error));
    }
    if (own === asked.current) setLooking(false);
  };

  useEffect(() => {
    if (shown.current !== query) {
      setWords(query);
      setFound({ rows: [] });
      setFresh(0);
    }
    shown.current = query;
    void load();
    if (query !== '') return;
    let waiting: ReturnType<typeof setTimeout> | undefined;
    const stop = listen((event) => {
      if ('row' in event && isAtTop.current) {
        const { row } = event;
        setFound((now) =>
          (now.rows[0]?.seq ?? 0) < row.seq ? { ...now, rows: [row, ...now.rows] } : now,
        );
        return;
      }
      setFresh((count) => count + ('row' in event ? 1 : event.summed));
      if (!isAtTop.current) return;
      waiting ??= setTimeout(() => {
        waiting = undefined;
        void load(); // what was summed is read as a whole
      }, 2_000);
    });
    return () => {
      stop();
      clearTimeout(waiting);
    };
  }, [query]);

  const { rows, before } = found;
  const row = (at: number) => {
    const one = rows[at];
    return one === undefined ? null : html`<${Line} row=${one} />`;
  };
  return html`<${View} title="Messages" problem=${problem}>
    <form
      role="search"
      class="bar"
      onSubmit=${(event: Event) => {
        event.preventDefault();
        location.hash =
          words.trim() === '' ? '#/messages' : `#/messages/${encodeURIComponent(words)}`;
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
        onInput=${({ currentTarget }: { readonly currentTarget: HTMLInputElement }) =>
          setWords(currentTarget.value)}
      />
      <button>Find</button>
      ${
        fresh > 0 ? html`<button type="button" onClick=${() => load()}>${fresh} new</button>` : null
      }
    </form>
    <p class="quiet" role="status">
      ${
        isLooking || found.query !== query
          ? 'Looking…'
          : plain(
              `${rows.length} ${rows.length === 1 ? 'fact' : 'facts'}${before === undefined ? '' : ' so far'}${query === '' ? '' : ` for ${query}`}`,
            )
      }
    </p>
    <${VirtualList}
      count=${rows.length}
      label="Facts, newest first"
      row=${row}
      onEnd=${() => before !== undefined && !isLooking && void load(before)}
      onTop=${(is: boolean) => {
        isAtTop.current = is;
      }}
    />
  <//>`;
}

function Line({ row }: { readonly row: Row }) {
  const { atMs, kind, id, name, status, who, code, correlationId } = row;
  const target = kind === 'dispatch' ? id : correlationId || id;
  return html`<a class="line" href=${`#/why/${encodeURIComponent(target)}`}>
    <${Time} ms=${atMs} /> <span class="kind">${kind}</span>
    <span class="name"><${Text} of=${name} /></span>
    ${status === undefined ? html`<span></span>` : html`<${Status} of=${status} />`}
    <span class="who">${plain([who, code].filter((one) => one !== undefined).join(' '))}</span>
    <span class="id"><${Text} of=${target} /></span>
  </a>`;
}
