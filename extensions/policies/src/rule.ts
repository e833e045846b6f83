import {
  type Allow,
  type Ask,
  allow,
  ask,
  type Call,
  type Cancel,
  cancel,
  canonicalStages,
  createKernel,
  type Given,
  type Kernel,
  type Stage,
  type VetoOptions,
} from 'sluice';
import { type Condition, conditionOf } from './expression.js';
import { didYouMean } from './problem.js';
import type { RawRule, Verdict } from './rule-schema.js';

/** A family whose vetoes a rule may stand for. */
type RuleFamily = 'agent.tool.calling';

/** The handler of a rule. Its family is known when the file is read, not when this is compiled. */
type RuleHandler = (call: Call<RuleFamily>) => Cancel<'policy'> | Ask | Allow;

/** A rule, checked: a veto, and a trial of it that has no effect. */
export interface Rule {
  readonly id: string;
  readonly family: RuleFamily;
  readonly options: VetoOptions & { readonly failClosed: boolean };
  readonly handler: RuleHandler;
  /** Dispatches to this rule alone, as if it were enforced. `allowed` if its match does not fit. */
  readonly tryOn: (payload: object, given: Given) => Promise<{ verdict: Verdict; why?: string }>;
}

/** Makes a rule of what a file says. @throws Error that says what is wrong. */
export function ruleOf(raw: RawRule): Rule {
  const stage = stageOf(raw.family);
  const source = raw['deny when'] ?? raw['ask when'] ?? '';
  const isQuestion = raw['ask when'] !== undefined;
  if (isQuestion && !stage.asks)
    throw new Error(`${stage.family} takes no questions; these do: ${familiesThat(asks)}`);
  const code = raw.code ?? 'policy';
  if (!isQuestion && !stage.cancelCodes.includes(code))
    throw new Error(
      `${stage.family} has no code "${code}"${didYouMean(code, stage.cancelCodes)}. It has ${stage.cancelCodes.join(', ')}`,
    );
  let condition: Condition;
  try {
    condition = conditionOf(source, stage);
  } catch (thrown) {
    throw new Error(`${isQuestion ? 'ask' : 'deny'} when: ${(thrown as Error).message}`, {
      cause: thrown,
    });
  }
  const decision = isQuestion ? question(raw) : refusal(code, raw.text);
  const handler: RuleHandler = ({ payload, principal, event }) =>
    (isQuestion && stage.isQuestion?.(payload as never)) || // no question is asked about a question
    !condition({ payload, principal, event })
      ? allow()
      : decision;
  const { failClosed, match, priority } = raw;
  const options = {
    failClosed,
    ...(match !== undefined && { match }),
    ...(priority !== undefined && { priority }),
  };
  const rule = { id: raw.id, family: stage.family as RuleFamily, handler }; // looked up above
  // the rule alone chooses no target, and none is needed to judge
  const alone = { ...stage, onError: { ...stage.onError, resolver: 'open' as const } };
  const trial = createKernel({ stages: [alone] });
  const checked: object = options; // the kernel checks the match against the stage
  trial.contribute({ ...rule, ...checked, class: 'veto', extensionId: 'policy' });
  return {
    ...rule,
    options: { ...checked, failClosed, mode: raw.mode },
    tryOn: (payload, given) => tryOn(trial, stage, payload, given),
  };
}

async function tryOn(kernel: Kernel, { family, mode }: Stage, payload: object, given: Given) {
  const of = family as RuleFamily;
  const outcome = await (mode === 'sync-sequential'
    ? kernel.dispatchSync(of as never, payload as never, given as never)
    : kernel.dispatch(of, payload as never, given as never)); // a journal or an example has it from outside the types
  if (outcome.status === 'passed') return { verdict: 'allowed' as const };
  if (outcome.status === 'failed') {
    const why = outcome.failures.at(-1)?.message ?? '';
    return { verdict: 'failed' as const, why };
  }
  const { code, text = '' } = outcome.cancel;
  return code === 'approval-required'
    ? { verdict: 'asked' as const, why: outcome.cancel.question?.title ?? '' }
    : { verdict: 'denied' as const, why: text };
}

function refusal(code: string, text: string | undefined): Cancel<'policy'> {
  const reason = text === undefined ? {} : { text };
  return cancel(code as 'policy', reason); // one of the codes of the stage
}

function question({ id, title = id, text, of, timeoutMs, scopes }: RawRule): Ask {
  return ask({
    title,
    ...(text !== undefined && { text }),
    ...(of !== undefined && { of }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(scopes !== undefined && { scopes }),
  });
}

const judged = (stage: Stage): boolean => stage.classes.includes('veto');
const asks = (stage: Stage): boolean => stage.asks;

function familiesThat(test: (stage: Stage) => boolean): string {
  return canonicalStages.flatMap((stage) => (test(stage) ? stage.family : [])).join(', ');
}

function stageOf(family: string): Stage {
  const stage = canonicalStages.find((one) => one.family === family);
  const known = canonicalStages.map((one) => one.family);
  if (stage === undefined)
    throw new Error(`there is no family "${family}"${didYouMean(family, known)}`);
  if (!judged(stage))
    throw new Error(
      `${family} has no vetoes, so no rule can stand there; these have: ${familiesThat(judged)}`,
    );
  return stage;
}
