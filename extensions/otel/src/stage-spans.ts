import * as otel from '@opentelemetry/api';
import type { Outcome } from 'sluice';
import type { ExtensionCall } from 'sluice/extension';
import { Recent } from './recent.js';
import { fail } from './run-spans.js';
import { type SpanOptions, timeOf } from './span-options.js';

type Step = Outcome['steps'][number];

/** A stage that runs, with the spans of its handlers by their names. */
interface Open {
  readonly span: otel.Span;
  readonly context: otel.Context;
  readonly handlers: Map<string, Call[]>;
}

interface Call {
  readonly span: otel.Span;
  endedAtMs?: number;
  /** The outcome has told of it: it ends when it settles. */
  isTold?: true;
}

/** The spans of stages and handlers. They are made when a stage has ended, unless its handlers run in their context. */
export class StageSpans {
  /** A handler may begin after the outcome of its stage was told: nobody ends that stage again. */
  readonly #open = new Recent<Open>(10_000);
  readonly #options: SpanOptions;

  constructor(options: SpanOptions) {
    this.#options = options;
  }

  /** Runs a handler inside of the span of its own. @param parent of its stage. */
  run<T>(call: () => T, of: ExtensionCall, parent: otel.Context): T {
    const { event, extensionId, contributionId } = of;
    if (event === undefined || event.hotPath) return call(); // a delta of a reply has no span (sight §5.1)
    const { tracer, now } = this.#options;
    let open = this.#open.get(event.eventId);
    if (open === undefined) {
      open = this.#start(event, parent);
      this.#open.set(event.eventId, open);
    }
    const name = `${extensionId}/${contributionId}`;
    const startTime = timeOf(now());
    const own: Call = {
      span: tracer.startSpan(`sluice.handler ${name}`, { startTime }, open.context),
    };
    open.handlers.set(name, [...(open.handlers.get(name) ?? []), own]);
    const ended = (): void => {
      own.endedAtMs = now();
      if (own.isTold) own.span.end(timeOf(own.endedAtMs));
    };
    let result: T;
    try {
      result = otel.context.with(otel.trace.setSpan(open.context, own.span), call);
    } catch (thrown) {
      ended();
      throw thrown;
    }
    if (result instanceof Promise) result.then(ended, ended);
    else ended();
    return result;
  }

  /** Makes the spans of a stage that has ended. @returns its context. */
  end(outcome: Outcome, endedAtMs: number, parent: otel.Context): otel.Context {
    const { event, steps, status, changes } = outcome;
    const open = this.#open.take(event.eventId) ?? this.#start(event, parent);
    const { span } = open;
    span.setAttributes({
      'sluice.outcome': status,
      'sluice.changes': changes.length,
      ...cancelOf(outcome),
    });
    if (status === 'failed') fail(span, outcome.failures.at(-1)?.kind ?? '_OTHER');
    this.#handlers(open, steps, event.occurredAt);
    span.end(timeOf(endedAtMs));
    return open.context;
  }

  #start({ family, eventId, occurredAt }: Outcome['event'], parent: otel.Context): Open {
    const span = this.#options.tracer.startSpan(
      `sluice.stage ${family}`,
      {
        startTime: timeOf(occurredAt),
        attributes: { 'sluice.family': family, 'sluice.event.id': eventId },
      },
      parent,
    );
    return { span, context: otel.trace.setSpan(parent, span), handlers: new Map() };
  }

  #handlers({ context: stage, handlers }: Open, steps: readonly Step[], beganAtMs: number): void {
    let atMs = beganAtMs;
    for (const step of steps) {
      const name = `${step.extensionId}/${step.contributionId}`;
      const call = handlers.get(name)?.shift();
      const { durationMs = 0 } = step;
      if (call !== undefined) {
        told(call.span, step);
        call.isTold = true;
        if (call.endedAtMs !== undefined) call.span.end(timeOf(call.endedAtMs));
      } else if (step.durationMs !== undefined && durationMs >= this.#options.handlersFromMs) {
        const startTime = timeOf(atMs);
        const title = `sluice.handler ${name}`;
        const span = this.#options.tracer.startSpan(title, { startTime }, stage);
        told(span, step);
        span.end(timeOf(atMs + durationMs));
      }
      if (step.class !== 'observer') atMs += durationMs; // observers of a parallel stage begin together
    }
    for (const { span, endedAtMs } of [...handlers.values()].flat())
      span.end(timeOf(endedAtMs ?? atMs));
  }
}

function told(span: otel.Span, { class: of, result, recheck, why }: Step): void {
  span.setAttributes({
    'sluice.handler.class': of,
    'sluice.result': result,
    ...(recheck === true && { 'sluice.recheck': true }),
  });
  if (result === 'failed') fail(span, why ?? '_OTHER');
}

/** A cancel, and the guardrail that its author says it is. */
function cancelOf(outcome: Outcome): otel.Attributes {
  if (outcome.status !== 'cancelled') return {};
  const { code, extensionId, contributionId, details = {} } = outcome.cancel;
  const { name, policyId } = Object(details['guardrail']) as Record<string, unknown>; // anything may be there
  return {
    'sluice.cancel.code': code,
    'sluice.cancel.by': `${extensionId}/${contributionId}`,
    ...(typeof name === 'string' && { 'sluice.guardrail.name': name }),
    ...(typeof policyId === 'string' && { 'sluice.guardrail.policy_id': policyId }),
  };
}
