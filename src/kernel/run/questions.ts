import type { Ask } from '../handler/ask.js';
import { authorOf, type Entry } from '../outcome/entry.js';
import type { CancelRecord } from '../outcome/outcome.js';
import {
  type ApprovalQuestion,
  type Approver,
  type AskAnswer,
  approvalScopes,
} from '../outcome/question.js';
import type { FailPolicy } from '../stage/vocabulary.js';
import { copyPlain } from '../value/copy-plain.js';
import { definedFields } from '../value/defined-fields.js';
import { didYouMean } from '../value/nearest.js';
import { oneLine } from '../value/one-line.js';
import { isAnswered } from './state/answered.js';
import { standingQuestions } from './state/recheck.js';
import type { Run } from './state/run.js';

/**
 * Takes the question of a veto: no objection while the stage runs (judgement §4.3). One that cannot be asked fails closed, whatever
 * the policy of the veto, which wanted a human to decide (judgement §4.4).
 *
 * @returns why it is not taken, and what that does.
 */
export function takeQuestion(
  run: Run,
  entry: Entry,
  result: object,
): { readonly problem: string; readonly policy: FailPolicy } | undefined {
  const { stage } = run.plan;
  if (!stage.asks)
    return { problem: `${stage.family} takes no question: return cancel()`, policy: 'closed' };
  // the payload is of its own family
  if (stage.isQuestion?.(run.emitted as never) === true)
    return {
      problem: 'it asks about a question, which would wait for another',
      policy: entry.policy,
    };
  const question = questionOf(run, entry, result);
  if (typeof question === 'string')
    return { problem: `its question ${question}`, policy: 'closed' };
  if (!isAnswered(run.terms.answered, entry))
    (run.cold.questions ??= new Map()).set(entry, question);
  return undefined;
}

/** Turns a dispatch that passed into a cancel if a question is open: the first in run order (judgement §4.3). */
export function cancelIfAsked(run: Run): void {
  const open = standingQuestions(run);
  const places = [...run.plan.entries, ...(run.terms.answered?.passedOver ?? [])];
  const asker = places.find((entry) => open.has(entry));
  const question = asker && open.get(asker);
  if (question === undefined) return;
  const text = `an approval is needed: ${oneLine(question.title)}`;
  const record: CancelRecord = { ...question.asker, code: 'approval-required', text, question };
  run.status = 'cancelled';
  run.cold.cancel = Object.freeze(record);
}

const fields = ['kind', 'title', 'text', 'of', 'timeoutMs', 'scopes', 'onAnswer'] as const;

type Fields = Readonly<Partial<Record<(typeof fields)[number], unknown>>>;

/** Reads an ask once, and checks it; a text says why it is none. */
function questionOf(run: Run, entry: Entry, result: object): ApprovalQuestion | string {
  const given = plainOf(result);
  if (typeof given === 'string') return given;
  const foreign = Object.keys(given).find((key) => !(fields as readonly string[]).includes(key));
  if (foreign !== undefined)
    return `has a field "${oneLine(foreign)}"${didYouMean(foreign, fields)}`;
  const { title, text, of = 'owner', timeoutMs, scopes = [], onAnswer } = given;
  if (typeof title !== 'string' || title.trim() === '') return 'has no title';
  if (text !== undefined && typeof text !== 'string') return 'has a text that is none';
  if (!isApprover(of)) return 'names as "of" neither owner, principal nor { role }';
  if (
    timeoutMs !== undefined &&
    !(typeof timeoutMs === 'number' && 0 < timeoutMs && Number.isFinite(timeoutMs))
  )
    return 'has a timeoutMs that is no positive number of milliseconds';
  if (!Array.isArray(scopes) || !scopes.every(isScope))
    return `has a scope other than ${approvalScopes.join(', ')}`;
  if (onAnswer !== undefined && typeof onAnswer !== 'function')
    return 'has an onAnswer that is no function';
  const { extensionId, contributionId } = entry;
  const question: ApprovalQuestion = {
    asker: Object.freeze({ extensionId, contributionId }),
    title,
    ...(text !== undefined && { text }),
    of,
    ...(timeoutMs !== undefined && { timeoutMs }),
    scopes: Object.freeze([...new Set(scopes)]),
  };
  if (onAnswer !== undefined)
    Object.defineProperty(question, 'onAnswer', { value: told(run, entry, onAnswer as OnAnswer) }); // any function will do
  return Object.freeze(question);
}

type OnAnswer = NonNullable<Ask['onAnswer']>;

/** The listener of an asker, whose failure is logged. */
function told(run: Run, entry: Entry, onAnswer: OnAnswer): (answer: AskAnswer) => void {
  return (answer) =>
    void Promise.resolve(answer)
      .then(onAnswer)
      .catch((error: unknown) => {
        const whose = { family: run.family, ...authorOf(entry) };
        run.services.logger.error('onAnswer of a question failed', {
          ...whose,
          detail: oneLine(error),
        });
      });
}

function plainOf(result: object): Fields | string {
  try {
    const { onAnswer, ...data } = result as Fields; // whatever it holds
    const taken = copyPlain(onAnswer === undefined ? result : data);
    // a copy of an object
    if ('copy' in taken) return { ...(taken.copy as Fields), ...definedFields({ onAnswer }) };
    return `cannot be read at ${taken.path}: ${taken.problem}`;
  } catch {
    return 'cannot be read';
  }
}

function isApprover(of: unknown): of is Approver {
  if (of === 'owner' || of === 'principal') return true;
  if (typeof of !== 'object' || of === null) return false;
  const { role } = of as { readonly role?: unknown };
  return typeof role === 'string' && role !== '' && Object.keys(of).length === 1;
}

function isScope(value: unknown): value is (typeof approvalScopes)[number] {
  return (approvalScopes as readonly unknown[]).includes(value);
}
