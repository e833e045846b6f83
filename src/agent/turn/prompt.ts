import { withSurroundings } from '@sluice/sdk/stream/internal';
import { definedFields, type PayloadOf } from 'sluice-kernel/internal';
import { whenPassed } from '../run/index.js';
import type { AttemptScope } from './turn-fields.js';

type Building = PayloadOf<'agent.prompt.building'>;
type Piece = Building['guidance'][number];

/** The prompt for a provider, made of the pieces that `agent.prompt.building` passed. */
export interface ComposedPrompt {
  readonly systemPrompt: string | undefined;
  readonly prompt: string;
}

/**
 * Builds the prompt of a turn through `agent.prompt.building`.
 *
 * @throws RunFailure `stage-failed`.
 */
export function buildPrompt(scope: AttemptScope): ComposedPrompt | Promise<ComposedPrompt> {
  const { options, trail, fields, signal, begun = [], surroundings } = scope;
  const { message, session, systemPrompt } = options;
  const { sender, messageId, replyTo, forwardedFrom, shared } = message.about ?? {};
  const own = systemPrompt === undefined ? {} : { systemPrompt };
  const asked: Parameters<typeof composePrompt>[0] = {
    prompt: message.text,
    guidance: [],
    additions: [],
    ...own,
  };
  const about = definedFields({ sender, messageId, replyTo, forwardedFrom, shared });
  const telling = trail.tell(
    'agent.prompt.building',
    () => ({ ...asked, messages: [...session.history, ...begun], ...about, ...fields }),
    signal,
  );
  return whenPassed(telling, (outcome) => {
    const context = (outcome ?? trail.last)?.annotations.context ?? [];
    const payload = outcome?.payload ?? asked;
    const anew = payload.systemPrompt === systemPrompt ? '' : (payload.systemPrompt ?? '').trim();
    const chosen = anew === '' ? own : { systemPrompt: anew }; // a blank one replaces nothing
    const prompt = withSurroundings(payload.prompt, surroundings);
    return composePrompt({ ...payload, ...chosen, prompt }, context);
  });
}

/**
 * Composes a prompt, each list in its order, a blank line between pieces (spec §16.9).
 *
 * System side: guidance before, the system prompt, the bootstrap files, guidance after; a plain piece stands
 * after. Where there is more than the system prompt, each piece is trimmed. User side: additions before, the annotated
 * context, the prompt, additions after, as they are written; a plain piece stands before. Blank pieces are left out.
 *
 * @param context what augmenters annotated as `context`, in all stages so far.
 * @example
 * composePrompt(outcome.payload, outcome.annotations.context ?? []).prompt;
 */
export function composePrompt(
  built: Pick<
    PayloadOf<'agent.prompt.building'>,
    'prompt' | 'systemPrompt' | 'guidance' | 'additions' | 'bootstrapFiles'
  >,
  context: readonly string[],
): ComposedPrompt {
  const files = (built.bootstrapFiles ?? [])
    .filter((file) => file.missing !== true && file.content !== undefined)
    .map((file) => `## ${file.name}\n\n${file.content}`);
  const systemPieces = [
    ...at(built.guidance, 'before', 'after'),
    built.systemPrompt ?? '',
    ...files,
    ...at(built.guidance, 'after', 'after'),
  ].filter(isSaid);
  const isAlone = systemPieces.every((piece) => piece === built.systemPrompt);
  const systemPrompt = join(isAlone ? systemPieces : systemPieces.map((piece) => piece.trim()));
  const prompt = join([
    ...at(built.additions, 'before', 'before'),
    ...context,
    built.prompt,
    ...at(built.additions, 'after', 'before'),
  ]);
  return { systemPrompt: systemPrompt === '' ? undefined : systemPrompt, prompt };
}

type Position = 'before' | 'after';

function at(pieces: readonly Piece[], position: Position, plain: Position): string[] {
  return pieces.flatMap((piece) =>
    (typeof piece === 'string' ? plain : piece.position) === position
      ? [typeof piece === 'string' ? piece : piece.text]
      : [],
  );
}

function join(pieces: readonly string[]): string {
  return pieces.filter(isSaid).join('\n\n');
}

function isSaid(piece: string): boolean {
  return piece.trim() !== '';
}
