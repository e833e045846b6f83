import MarkdownIt, { type Env, type StateInline, type Token } from 'markdown-it';
import cjkFriendly from 'markdown-it-cjk-friendly';

/** Containers within containers that are read. The parser leaves out what is deeper. */
const deepest = 40;

const parser = new MarkdownIt({ linkify: true, maxNesting: deepest }).use(cjkFriendly);
// a name such as "notes.md" is no address of a site
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
parser.inline.ruler.at('text', passText);
parser.inline.ruler.after('strikethrough', 'spoiler', readSpoiler);

/**
 * Parses Markdown: CommonMark with tables, struck text and addresses of GitHub's form, and hidden text between `||`.
 *
 * @param env.references has the definitions of links that are known; those of this text are added.
 * @returns nothing if the text is nested too deeply.
 */
export function parseMarkdown(source: string, env: Env = {}): readonly Token[] | undefined {
  const tokens = parser.parse(source, env);
  return tokens.some(({ level }) => level >= deepest - 2) ? undefined : tokens;
}

/** The rule of the parser for what is no markup, which here ends at `|`, too. */
function passText(state: StateInline, silent: boolean): boolean {
  const text = /[^\n!#$%&*+\-:<=>@[\\\]^_`{}~|]+/y;
  text.lastIndex = state.pos;
  if (!text.test(state.src)) return false;
  const end = Math.min(text.lastIndex, state.posMax);
  if (!silent) state.pending += state.src.slice(state.pos, end);
  state.pos = end;
  return true;
}

/** Reads `||hidden||`. Markup stands in it as in a link. */
function readSpoiler(state: StateInline, silent: boolean): boolean {
  const { src, pos, posMax } = state;
  if (!src.startsWith('||', pos)) return false;
  const end = src.indexOf('||', pos + 2);
  const hidden = src.slice(pos + 2, end);
  if (end === -1 || end + 2 > posMax || hidden === '' || hidden.trim() !== hidden) return false;
  if (!silent) {
    state.push('spoiler_open', '', 1);
    state.pos = pos + 2;
    state.posMax = end;
    state.md.inline.tokenize(state);
    state.push('spoiler_close', '', -1);
  }
  state.pos = end + 2;
  state.posMax = posMax;
  return true;
}
