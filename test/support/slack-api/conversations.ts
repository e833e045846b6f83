type Fields = Readonly<Record<string, unknown>>;

/** A message that a conversation shows. */
export interface ShownInSlack {
  readonly ts: string;
  readonly channel: string;
  readonly threadTs?: string;
  /** The bot that wrote it. */
  readonly user: string;
  /** As people see it. */
  readonly text: string;
  readonly blocks: readonly Fields[];
  readonly file?: string;
}

/** The reason why a call is refused: an error of Slack's. */
export class RefusedBySlack extends Error {}

/** The conversations of a workspace, by the rules of the Web API: lengths, blocks, who may edit, doubles. */
export class Conversations {
  readonly #shown = new Map<string, ShownInSlack>();
  readonly #byClientId = new Map<string, string>();
  #last = 0;

  get all(): readonly ShownInSlack[] {
    return [...this.#shown.values()];
  }

  post(user: string, payload: Fields, nowMs: number): ShownInSlack {
    const channel = String(payload['channel'] ?? '');
    if (channel === '') throw new RefusedBySlack('channel_not_found');
    const clientId = payload['client_msg_id'];
    const known = this.#byClientId.get(`${channel} ${String(clientId)}`);
    const double = known === undefined ? undefined : this.#shown.get(known);
    if (double !== undefined) return double;
    const shown: ShownInSlack = {
      ts: `${Math.floor(nowMs / 1_000)}.${String(++this.#last).padStart(6, '0')}`,
      channel: channel.startsWith('U') ? `D${channel.slice(1)}` : channel,
      ...(payload['thread_ts'] !== undefined && { threadTs: String(payload['thread_ts']) }),
      user,
      ...contentOf(payload, 40_000),
    };
    this.#shown.set(`${shown.channel} ${shown.ts}`, shown);
    if (clientId !== undefined)
      this.#byClientId.set(`${channel} ${String(clientId)}`, `${shown.channel} ${shown.ts}`);
    return shown;
  }

  update(user: string, payload: Fields): ShownInSlack {
    const before = this.#find(payload);
    if (before.user !== user) throw new RefusedBySlack('cant_update_message');
    const after = { ...before, ...contentOf(payload, 4_000) };
    this.#shown.set(`${after.channel} ${after.ts}`, after);
    return after;
  }

  remove(user: string, payload: Fields): ShownInSlack {
    const before = this.#find(payload);
    if (before.user !== user) throw new RefusedBySlack('cant_delete_message');
    this.#shown.delete(`${before.channel} ${before.ts}`);
    return before;
  }

  #find(payload: Fields): ShownInSlack {
    const found = this.#shown.get(`${payload['channel']} ${payload['ts']}`);
    if (found === undefined) throw new RefusedBySlack('message_not_found');
    return found;
  }
}

function contentOf(payload: Fields, limit: number): Pick<ShownInSlack, 'text' | 'blocks'> {
  const blocks = JSON.parse(String(payload['blocks'] ?? '[]')) as readonly Fields[];
  const text = String(payload['text'] ?? '');
  if (text.length > limit) throw new RefusedBySlack('msg_too_long');
  if (text === '' && blocks.length === 0) throw new RefusedBySlack('no_text');
  if (blocks.length > 50 || blocks.some((block) => !isBlock(block)))
    throw new RefusedBySlack('invalid_blocks');
  const said = blocks.map(saidBy).filter((one) => one !== '');
  const shown = blocks.length === 0 ? visibleText(text) : said.join('\n');
  if (shown.length > 9_600) throw new RefusedBySlack('msg_blocks_too_long');
  return { text: shown, blocks };
}

/** The text of mrkdwn without its entities. */
export function visibleText(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

function childrenOf(block: Fields): readonly Fields[] {
  return Array.isArray(block['elements']) ? (block['elements'] as readonly Fields[]) : [];
}

function isBlock(block: Fields): boolean {
  const ids = childrenOf(block).map(({ action_id: id }) => id);
  const label = (one: Fields | undefined): boolean => {
    const text = String(one?.['text'] ?? '');
    return one?.['type'] === 'plain_text' && text.length >= 1 && text.length <= 75;
  };
  switch (block['type']) {
    case 'rich_text':
      return childrenOf(block).length > 0 && childrenOf(block).every(isRich);
    case 'section':
      return String((block['text'] as Fields)['text']).length <= 3_000;
    case 'actions':
      return (
        ids.length >= 1 &&
        ids.length <= 25 &&
        new Set(ids).size === ids.length &&
        ids.every((id) => typeof id === 'string' && id.length <= 255) &&
        childrenOf(block).every((element) =>
          element['type'] === 'button'
            ? label(element['text'] as Fields)
            : (element['options'] as readonly Fields[]).every(
                (option) =>
                  label(option['text'] as Fields) && String(option['value']).length <= 150,
              ),
        )
      );
    case 'input':
      return typeof block['block_id'] === 'string' && label(block['label'] as Fields);
    case 'image':
      return /^https?:/.test(String(block['image_url'])) && block['alt_text'] !== '';
    default:
      return false;
  }
}

function isRich(element: Fields): boolean {
  const isPlain = element['type'] === 'rich_text_preformatted';
  return (
    /^rich_text_(section|preformatted|quote)$/.test(String(element['type'])) &&
    childrenOf(element).length > 0 &&
    childrenOf(element).every(
      ({ type, text, url, style }) =>
        typeof text === 'string' &&
        text !== '' &&
        (type === 'text' || (type === 'link' && typeof url === 'string')) &&
        !(isPlain && style !== undefined),
    )
  );
}

/** The words of a block, as people see them: each element of a rich text begins a line. */
function saidBy(block: Fields): string {
  if (block['type'] === 'section') return String((block['text'] as Fields)['text']);
  if (block['type'] !== 'rich_text') return '';
  return childrenOf(block)
    .map((element) =>
      childrenOf(element)
        .map(({ text }) => String(text))
        .join(''),
    )
    .join('\n');
}
