import {
  allow,
  cancel,
  createKernel,
  defineStage,
  type Kernel,
  type Outcome,
  type StageTypes,
} from 'sluice-kernel';
import { z } from 'zod';
import {
  at,
  type Composition,
  type Fields,
  identityOf,
  type Resolve,
  type Rule,
  type Vector,
  type Verdict,
} from './agent-hooks-vectors.js';
import {
  allowed,
  asked,
  denial,
  HostDenial,
  matches,
  type Point,
  reasonOf,
  transformed,
} from './agent-hooks-verdict.js';

const intercepting = defineStage({
  family: 'hooks.intercepting',
  classes: ['mutator', 'veto'],
  mode: 'sequential',
  payload: z.object({ context: z.record(z.string(), z.unknown()) }),
  sample: { context: {} },
  laws: { context: 'replace' },
  cancelCodes: ['denied'],
});

declare module 'sluice-kernel' {
  interface Families {
    'hooks.intercepting': StageTypes<typeof intercepting>;
  }
}

/** The record of one interception, without payload. */
export interface InterceptionRecord {
  readonly interception_point: Point;
  readonly verdict: Verdict;
  readonly input_identity: string | null;
  readonly enforced_identity: string | null;
  readonly [field: string]: unknown;
}

/** The end of an interception: the verdict that counts, and the context as it goes on. */
interface Judged {
  readonly verdict: Verdict;
  readonly context: Fields;
  readonly decidedBy: number | null;
  readonly resolvedBy?: 'approval' | 'rejection';
}

/** An agent in a loop whose eight points are judged by scripted interceptors, each of them a veto and a mutator of a kernel. */
export class HooksHost {
  readonly interceptions: Fields[] = [];
  readonly records: InterceptionRecord[] = [];
  readonly #kernel: Kernel;
  readonly #scripts: readonly (readonly Rule[])[];
  readonly #approvals: readonly Resolve[];
  readonly #composition: Composition;
  readonly #vector: Vector;
  readonly #recheck: boolean;
  /** The verdicts of the interception that is under way, by their interceptor. */
  #verdicts: (Verdict | undefined)[] = [];
  /** The verdict of the interceptor that was asked last: its transform is not applied yet. */
  #fresh: Verdict | undefined;
  /** The interceptors whose denial a human has lifted: that it may be lifted is no objection any more. */
  readonly #lifted = new Set<number>();

  /** @param recheck has each interceptor judge the final value once more, as a kernel does by itself. */
  constructor(vector: Vector, recheck: boolean) {
    const { interceptor_script = [], interceptor_scripts = [interceptor_script] } = vector;
    this.#vector = vector;
    this.#recheck = recheck;
    this.#scripts = interceptor_scripts;
    this.#approvals = vector.approval_script ?? [];
    this.#composition = vector.composition ?? {
      profile: 'sequential/first_deny',
      on_approval: 'stop',
    };
    this.#kernel = createKernel({ stages: [intercepting] });
    for (const [index, script] of this.#scripts.entries()) this.#contribute(script, index);
    if (this.#runsAll) this.#contributeAggregate();
  }

  /** Every interceptor runs, also after a denial. */
  get #runsAll(): boolean {
    return this.#composition.profile !== 'sequential/first_deny';
  }

  get #isParallel(): boolean {
    return this.#composition.profile.startsWith('parallel');
  }

  #contribute(script: readonly Rule[], index: number): void {
    const mode = this.#vector.mode === 'evaluate_only' ? 'audit' : 'enforce';
    const of = {
      family: 'hooks.intercepting',
      extensionId: 'hooks',
      mode,
      failClosed: true,
    } as const;
    const priority = 2 * (this.#scripts.length - index);
    this.#kernel.contribute({
      ...of,
      class: 'veto',
      id: `${index}`,
      priority: priority + 1,
      recheck: this.#recheck && !this.#isParallel, // peers judge one snapshot, and nothing else (AH-CTK-084)
      handler: ({ payload: { context }, pass }) => {
        if (pass !== 'first') return this.#again(script, context, index);
        if (this.#verdicts[index] !== undefined) return allow(); // it has judged, and goes on after an approval
        if (index === 0) this.interceptions.push(context);
        const verdict = this.#askAll(script, context);
        this.#verdicts[index] = verdict;
        this.#fresh = verdict;
        return this.#runsAll || verdict.decision !== 'deny' ? allow() : cancel('denied');
      },
    });
    if (this.#isParallel) return;
    this.#kernel.contribute({
      ...of,
      class: 'mutator',
      id: `${index}-transform`,
      priority,
      handler: ({ payload: { context } }) => {
        const verdict = this.#verdicts[index];
        return this.#fresh === verdict ? this.#patch(context, verdict) : undefined;
      },
    });
  }

  #patch(context: Fields, verdict: Verdict | undefined) {
    return verdict?.transform && { context: transformed(context, verdict.transform) };
  }

  /** The judgement of the final value: stricter than the contract, which asks nobody again. */
  #again(script: readonly Rule[], context: Fields, index: number) {
    if (this.#verdicts[index]?.decision !== 'allow') return allow();
    const verdict = asked(script, context);
    if (verdict.decision !== 'deny') return allow();
    if (verdict.approval !== undefined && this.#lifted.has(index)) return allow();
    this.#verdicts[index] = verdict;
    return cancel('denied');
  }

  /** Asks one interceptor. Where all of them run, one that fails denies in its place. */
  #askAll(script: readonly Rule[], context: Fields): Verdict {
    if (!this.#runsAll) return asked(script, context);
    try {
      return asked(script, context);
    } catch (error) {
      return denial(error instanceof HostDenial ? error.message : 'interceptor_failed');
    }
  }

  /** Where every interceptor runs, the last mutator applies a single transform, and the last veto denies for all. */
  #contributeAggregate(): void {
    const of = { family: 'hooks.intercepting', extensionId: 'hooks', failClosed: true } as const;
    if (this.#isParallel)
      this.#kernel.contribute({
        ...of,
        class: 'mutator',
        id: 'transform',
        priority: -1,
        handler: ({ payload: { context } }) => {
          const { verdict } = this.#combined();
          return verdict.decision === 'transform' ? this.#patch(context, verdict) : undefined;
        },
      });
    this.#kernel.contribute({
      ...of,
      class: 'veto',
      id: 'all',
      priority: -2,
      handler: () => (this.#combined().verdict.decision === 'deny' ? cancel('denied') : allow()),
    });
  }

  /** The verdict of all: the strictest, and in parallel profiles what the profile says of a conflict or a disagreement. */
  #combined(): { readonly verdict: Verdict; readonly decidedBy: number | null } {
    const all = this.#verdicts.map((verdict, index) => ({ verdict: verdict ?? allowed, index }));
    const of = (decision: string) => all.filter(({ verdict }) => verdict.decision === decision);
    const [denials, transforms] = [of('deny'), of('transform')];
    const { profile, on_disagreement, on_transform_conflict } = this.#composition;
    const synthesized = (reason: string, knob: 'deny' | 'approval' = 'deny') => ({
      verdict: { ...denial(reason), ...(knob === 'approval' && { approval: {} }) },
      decidedBy: null,
    });
    if (profile === 'parallel/unanimous' && denials.length + transforms.length > 0)
      return synthesized('composition_disagreement', on_disagreement);
    const denied = denials.find(({ verdict }) => verdict.approval === undefined) ?? denials[0];
    if (denied === undefined && this.#isParallel && transforms.length > 1)
      return synthesized('transform_conflict', on_transform_conflict);
    const winner = denied ?? transforms.at(-1);
    return { verdict: winner?.verdict ?? allowed, decidedBy: winner?.index ?? null };
  }

  /** Judges one point. Gives the context as it goes on, and the reason if it is denied. */
  async intercept(
    context: Fields,
  ): Promise<{ readonly context: Fields; readonly denied?: string }> {
    this.#verdicts = this.#scripts.map(() => undefined);
    this.#lifted.clear();
    const input = this.#identity(context);
    const judged =
      'error' in input ? this.#denied('context_invalid', context) : await this.#judge(context);
    const end = { ...judged, verdict: this.#withUnions(judged.verdict) };
    const isEnforced = this.#vector.mode !== 'evaluate_only';
    const goesOn = isEnforced ? end.context : context;
    const enforced = 'error' in input ? input : this.#identity(goesOn);
    this.#record(context, end, input.value ?? null, enforced.value ?? null);
    if (end.verdict.decision !== 'deny' || !isEnforced) return { context: goesOn };
    return { context: goesOn, denied: end.verdict.reason ?? 'denied' };
  }

  #identity(context: Fields): { readonly value?: string | null; readonly error?: true } {
    const { identity_provider: provider = 'jcs-sha256' } = this.#vector;
    if (provider === null) return { value: null };
    return provider === 'jcs-sha256' ? { value: identityOf(context) } : { error: true };
  }

  #denied(reason: string, context: Fields): Judged {
    return { verdict: denial(reason), context, decidedBy: null };
  }

  async #judge(context: Fields): Promise<Judged> {
    if (this.#scripts.length === 0) return this.#denied('no_interceptor', context);
    let end = await this.#dispatch(context);
    let isApproved = false;
    while (end.verdict.decision === 'deny' && end.verdict.approval !== undefined) {
      const resolved = this.#consultOn(end);
      const { verdict, decidedBy } = resolved;
      const isLifted = verdict.decision !== 'deny' && decidedBy !== null;
      if (!isLifted || this.#composition.on_approval !== 'resume') return resolved;
      this.#verdicts[decidedBy] = verdict;
      this.#lifted.add(decidedBy);
      isApproved = true;
      end = await this.#dispatch(resolved.context);
    }
    return isApproved ? { ...end, resolvedBy: 'approval' } : end;
  }

  async #dispatch(context: Fields): Promise<Judged> {
    return this.#endOf(await this.#kernel.dispatch('hooks.intercepting', { context }));
  }

  /** The verdict that an outcome of the kernel stands for. */
  #endOf(outcome: Outcome<'hooks.intercepting'>): Judged {
    const { context } = outcome.payload;
    if (outcome.status === 'failed') {
      const failure = outcome.failures.find(({ policy }) => policy === 'closed');
      const decidedBy = Number.parseInt(failure?.contributionId ?? '', 10);
      return { verdict: denial(reasonOf(failure)), context, decidedBy };
    }
    if (outcome.status === 'cancelled' && !this.#runsAll) {
      const decidedBy = Number.parseInt(outcome.cancel.contributionId, 10);
      return {
        verdict: this.#verdicts[decidedBy] ?? denial('interceptor_failed'),
        context,
        decidedBy,
      };
    }
    return { ...this.#combined(), context };
  }

  /** Asks the scripted human about a denial that may be lifted. Without one it stands. */
  #consultOn(denied: Judged): Judged {
    if (this.#approvals.length === 0) return denied;
    const { context } = denied;
    const shown = this.#redacted(context);
    const rejected = (verdict: Verdict): Judged => ({
      ...denied,
      verdict,
      resolvedBy: 'rejection',
    });
    const rule = this.#approvals.find((one) => matches(shown, one))?.resolve;
    if (rule?.fault === 'raise') return rejected(denial('approval_resolver_failed'));
    const { value: identity = null } = this.#identity(shown);
    const recomputed = rule?.echo_recomputed === true ? identityOf(shown) : identity;
    if ((rule?.identity_override ?? recomputed) !== identity)
      return rejected(denial('approval_identity_mismatch'));
    const { outcome = 'unresolved', verdict = denied.verdict } = rule ?? {};
    if (outcome === 'unresolved') return rejected(denial('approval_unresolved'));
    if ((outcome === 'approve') === (verdict.decision === 'deny'))
      return rejected(denial('verdict_invalid'));
    if (outcome === 'reject') return rejected(verdict);
    const lifted = { ...denied, verdict, resolvedBy: 'approval' } as const;
    try {
      return verdict.transform
        ? { ...lifted, context: transformed(context, verdict.transform) }
        : lifted;
    } catch {
      return { ...lifted, verdict: denial('transform_invalid') };
    }
  }

  #redacted(context: Fields): Fields {
    const { redact_for_approval: paths = [] } = this.#vector;
    return paths.reduce(
      (shown, path) => transformed(shown, { path, value: '[redacted]' }),
      context,
    );
  }

  /** A verdict with the warnings and labels of all. */
  #withUnions(verdict: Verdict): Verdict {
    const all = this.#verdicts.filter((one) => one !== undefined);
    const warnings = all.flatMap((one) => one.warnings ?? []);
    const labels = [...new Set(all.flatMap((one) => one.result_labels ?? []))];
    return {
      ...verdict,
      ...(warnings.length > 0 && { warnings }),
      ...(labels.length > 0 && { result_labels: labels }),
    };
  }

  #record(
    context: Fields,
    { verdict, decidedBy, resolvedBy }: Judged,
    input: string | null,
    enforced: string | null,
  ) {
    const { mode = 'enforce', identity_provider: provider = 'jcs-sha256' } = this.#vector;
    const { transform, approval, message, ...rest } = verdict;
    this.records.push({
      interception_point: context['interception_point'] as Point, // the host wrote it
      mode,
      verdict: {
        ...rest,
        ...(transform && { transform: { path: transform.path } }),
        ...(approval && { approval: {} }),
        ...(typeof message === 'string' && { message: message.slice(0, 256) }),
      },
      input_identity: input,
      enforced_identity: enforced,
      identity_provider: provider,
      session_id: at(context, 'session.id'),
      sequence: context['sequence'],
      timestamp: context['timestamp'],
      decided_by: decidedBy,
      composition: this.#composition,
      verdicts: this.#verdicts.flatMap((one, index) =>
        one === undefined ? [] : [{ index, decision: one.decision, reason: one.reason ?? null }],
      ),
      fold_truncated: this.#verdicts.includes(undefined),
      resolved_by: resolvedBy ?? null,
      interceptors_registered: this.#scripts.length,
    });
  }
}
