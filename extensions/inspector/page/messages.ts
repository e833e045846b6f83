import { html, useEffect, useRef, useState } from '../vendor/preact.js';
import { about, get, listen } from './client.js';
import {
  counted,
  linkTo,
  messageOf,
  plain,
  Status,
  span,
  Text,
  Time,
  typed,
  View,
} from './parts.js';
import type { Message, Row } from './shapes.js';
import { stateOf } from './states.js';
import { VirtualList } from './virtual-list.js';

interface Found {
  readonly rows: readonly (Row | Message)[];
  readonly before?: number;
  readonly last: number;
}

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
      now.current = joined(known ?? { rows: [], last: 0 }, part, isNewer);
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
    return listen((count) => {
      setFresh((sum) => sum + count);
      if (isAtTop.current) void load('newer');
    });
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
  const row = (at: number) => {
    const one = rows[at];
    if (one === undefined) return null;
    return 'kind' in one ? html`<${FactLine} row=${one} />` : html`<${MessageLine} row=${one} />`;
  };
  const isFacts = of === 'list';
  const all = counted(rows.length, isFacts ? 'fact' : 'message');
  const count = `${all}${before === undefined ? '' : ' so far'}${query === '' ? '' : ` for ${query}`}`;
  const mayText = about.value?.text === true;
  return html`<${View} title="Messages" problem=${problem}>
    <form
      role="search"
      class="bar"
      onSubmit=${(event: Event) => {
        event.preventDefault();
        location.hash = linkTo(isFacts ? 'facts' : 'messages', words.trim());
      }}
    >
      <label for="search">Search</label>
      <input
        id="search"
        type="search"
        autocomplete="off"
        spellcheck="false"
        placeholder="a name, ${mayText ? 'a word that was said, ' : ''}an id, or session: family: extension: code: status: kind:${mayText ? ' text:' : ''}"
        value=${words}
        onInput=${typed(setWords)}
      />
      <button>Find</button>
      ${
        isFacts
          ? html`<a href=${linkTo('messages', query)}>Messages alone</a>`
          : html`<a href=${linkTo('facts', query)}>${query === '' ? 'All facts' : 'Facts that fit'}</a>`
      }
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
    <p class="quiet">
      <span role="status">${isLooking || found === undefined ? 'Looking…' : plain(count)}</span>
      ${!isFacts && !mayText && html`<span>To see what was said, start it with --inspect-text.</span>`}
    </p>
    <${VirtualList}
      count=${rows.length}
      label="${isFacts ? 'Facts' : 'Messages'}, newest first"
      kind=${isFacts ? 'facts' : 'messages'}
      row=${row}
      onEnd=${() => before !== undefined && !isLooking && void load('older')}
      onTop=${(is: boolean) => {
        isAtTop.current = is;
        if (is && fresh > 0) void load('newer');
      }}
    />
  <//>`;
}

/** Puts a part beside what is known. Of a message that both have, the newer part knows more. */
function joined(known: Found, part: Found, isNewer: boolean): Found {
  const [newer, older] = isNewer ? [part, known] : [known, part];
  const rows = new Map([...older.rows, ...newer.rows].map((one) => [one.seq, one]));
  const all = [...rows.values()].sort((one, other) => other.seq - one.seq);
  const { before } = isNewer ? known : part;
  const last = Math.max(known.last, part.last);
  const kept = isNewer ? all.slice(0, keptAtMost) : all;
  const from = kept.length < all.length ? kept.at(-1)?.seq : before; // what fell out can be read again
  return { rows: kept, last, ...(from !== undefined && { before: from }) };
}

function MessageLine({ row }: { readonly row: Message }) {
  const { id, fromMs, toMs, channel, sender, conversation, agentId, text } = row;
  const { words, why, tone, isOpen } = stateOf(row);
  const place = [conversation ?? channel, agentId && `agent ${agentId}`]
    .filter(Boolean)
    .join(' · ');
  const trouble = [
    ...(why === undefined ? [] : [why]),
    ...(row.cancels === 0 ? [] : [counted(row.cancels, 'cancel')]),
    ...(row.failures === 0 ? [] : [counted(row.failures, 'failure')]),
  ];
  return html`<a class="line message" href=${linkTo('why', id)}>
    <${Time} ms=${fromMs} />
    <span class="from">
      ${sender === undefined ? html`<span class="quiet">not read yet</span>` : html`<b><${Text} of=${sender} /></b>`}
    </span>
    <span class="said"><${Text} of=${text} /></span>
    <span class="state ${tone}">${plain(words)}</span>
    <span class="took">${!isOpen && html`<${ModelTime} ms=${toMs - fromMs} modelMs=${row.modelMs} />`}</span>
    <span class="quiet"><${Text} of=${place} /></span>
    <span class="trouble bad" title=${plain(trouble.join(', '))}>${plain(trouble.join(', '))}</span>
  </a>`;
}

/** The time that a message took, with the part of its model as a bar. */
function ModelTime({ ms, modelMs }: { readonly ms: number; readonly modelMs: number }) {
  const share = ms === 0 ? 0 : Math.max(0, Math.min(100, (100 * modelMs) / ms));
  const model = modelMs > 0 ? `, model ${span(modelMs)}` : '';
  return html`<span class="track" aria-hidden="true"
      ><span class="fill model" style=${{ width: `${share}%` }}></span
    ></span>
    ${span(ms)}${model}`;
}

function FactLine({ row }: { readonly row: Row }) {
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
