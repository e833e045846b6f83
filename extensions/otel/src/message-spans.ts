import * as otel from '@opentelemetry/api';
import type { Outcome } from 'sluice';
import type { ExtensionCall, Fact } from 'sluice/extension';
import { seedContext, startSeeded } from './event-ids.js';
import { Recent } from './recent.js';
import { fail, RunSpans } from './run-spans.js';
import { type SpanOptions, timeOf } from './span-options.js';
import { StageSpans } from './stage-spans.js';

type Of<K extends Fact['kind']> = Extract<Fact, { readonly kind: K }>;

/** A message that is being handled. */
interface Open {
  readonly root: otel.Span;
  readonly context: otel.Context;
  readonly runs: RunSpans;
  readonly sends: Map<string, otel.Span>;
}

interface Accepted {
  readonly entry: Of<'update'>;
  /** The context in which it came: of an HTTP request, say. */
  readonly from: otel.SpanContext | undefined;
}

/** Timelines that are remembered after their end, for what comes later, such as an observer that nobody waited for. */
const remembered = 10_000;

/** Makes one trace of each message from the entries of its timeline (sight §5). */
export class MessageSpans implements Disposable {
  readonly #options: SpanOptions;
  readonly #stages: StageSpans;
  readonly #open = new Map<string, Open>();
  readonly #accepted = new Recent<Accepted>(remembered);
  /** The first spans of timelines that have ended, and of what belongs to no message. */
  readonly #past = new Recent<otel.Context>(remembered);
  readonly #pastSends = new Recent<otel.Span>(remembered);

  constructor(options: SpanOptions) {
    this.#options = options;
    this.#stages = new StageSpans(options);
  }

  /** Ends what is open: the extension is loaded anew, or goes. */
  [Symbol.dispose](): void {
    const atMs = this.#options.now();
    for (const id of this.#open.keys())
      this.#end({ kind: 'update', id, correlationId: id, state: 'left', atMs }, 'left');
  }

  /** The first span of a message, for an exemplar. */
  spanOf(correlationId: string): otel.SpanContext | undefined {
    const at = this.#open.get(correlationId)?.context ?? this.#past.get(correlationId);
    const span = at && otel.trace.getSpanContext(at);
    return span && otel.isSpanContextValid(span) ? span : undefined; // without an SDK there is none
  }

  /** Runs a handler or a tool in the context of its message. */
  run<T>(call: () => T, of: ExtensionCall): T {
    const open = of.event && this.#open.get(of.event.correlationId);
    if (open === undefined || of.event === undefined) return call();
    if (of.tool !== undefined) return open.runs.run(call, of.tool);
    return this.#stages.run(call, of, open.runs.contextOf({ event: of.event }));
  }

  hear(entry: Fact): void {
    const root = this.#open.get(entry.correlationId)?.root;
    const at = timeOf(entry.atMs);
    if (entry.kind === 'dispatch') this.#dispatch(entry.outcome);
    else if (entry.kind === 'update') this.#update(entry);
    else if (entry.kind === 'send') this.#send(entry);
    else if (entry.kind === 'lane')
      root?.addEvent(
        'lane.wait',
        { 'sluice.lane.of': entry.of, 'sluice.lane.wait_ms': entry.waitedMs },
        at,
      );
    else if (entry.kind === 'attempt') this.#attempt(entry);
    else if (entry.kind === 'question')
      root?.addEvent('question', { 'sluice.question.state': entry.state }, at);
    else if (entry.kind === 'audit') {
      const { extensionId, contributionId, verdict } = entry.record;
      const by = `${extensionId}/${contributionId}`;
      root?.addEvent('audit', { 'sluice.audit.by': by, 'sluice.audit.verdict': verdict }, at);
    }
  }

  #update(entry: Of<'update'>): void {
    const { id, state } = entry;
    if (state === 'accepted') {
      this.#accepted.set(id, { entry, from: otel.trace.getSpanContext(otel.context.active()) });
    } else if (state === 'begun') this.#begin(entry);
    else if (state === 'given-back') this.#end(entry, 'given-back');
    else {
      if (!this.#open.has(id) && this.#accepted.get(id) !== undefined) this.#begin(entry); // it joined another, or was refused
      this.#end(entry, entry.outcome ?? state);
    }
  }

  #begin(entry: Of<'update'>): void {
    const { id, atMs, attempt } = entry;
    if (this.#open.has(id)) return;
    const first = this.#accepted.take(id);
    const { channel = 'unknown', accountId } = first?.entry ?? entry;
    const links: otel.Link[] = first?.from === undefined ? [] : [{ context: first.from }];
    const root = this.#root(
      id,
      first === undefined ? `${id}#${atMs}` : id,
      `process ${channel}`,
      { kind: otel.SpanKind.CONSUMER, startedAtMs: first?.entry.atMs ?? atMs, links },
      {
        'messaging.system': channel,
        'messaging.operation.type': 'process',
        'messaging.operation.name': 'process',
        'sluice.event.id': id,
        'sluice.correlation.id': id,
        ...(accountId !== undefined && { 'sluice.account.id': accountId }),
        ...(attempt !== undefined && { 'sluice.update.attempt': attempt }),
      },
    );
    const at = otel.trace.setSpan(otel.ROOT_CONTEXT, root);
    const runs = new RunSpans(this.#options, at);
    this.#open.set(id, { root, context: at, runs, sends: new Map() });
  }

  /** Starts the first span of a trace, linked to the first trace of its message if this is another. */
  #root(
    correlationId: string,
    seed: string,
    name: string,
    {
      kind,
      startedAtMs,
      links = [],
    }: { kind: otel.SpanKind; startedAtMs: number; links?: otel.Link[] },
    attributes: otel.Attributes,
  ): otel.Span {
    const all =
      seed === correlationId ? links : [...links, { context: seedContext(correlationId) }];
    const options = { root: true, kind, startTime: timeOf(startedAtMs), links: all, attributes };
    return startSeeded(seed, (root) => this.#options.tracer.startSpan(name, options, root));
  }

  #end(entry: Of<'update'>, outcome: string): void {
    const { id, channel, accountId, agentId, sessionKey, joinedTo, atMs } = entry;
    const open = this.#open.get(id);
    if (open === undefined) return;
    this.#open.delete(id);
    const { root, context: at, runs, sends } = open;
    runs.close(atMs);
    for (const [sendId, span] of sends) {
      span.end(timeOf(atMs));
      this.#pastSends.set(sendId, span);
    }
    if (channel !== undefined) root.updateName(`process ${channel}`); // one of a host before is begun without it
    root.setAttributes({
      'sluice.outcome': outcome,
      ...(channel !== undefined && { 'messaging.system': channel }),
      ...(accountId !== undefined && { 'sluice.account.id': accountId }),
      ...(agentId !== undefined && { 'gen_ai.agent.name': agentId }),
      ...(sessionKey !== undefined && { 'gen_ai.conversation.id': sessionKey }),
    });
    if (joinedTo !== undefined) root.addLink({ context: seedContext(joinedTo) });
    if (outcome === 'failed' || outcome === 'undecodable') fail(root, outcome);
    root.end(timeOf(atMs));
    this.#past.set(id, at);
  }

  #dispatch(outcome: Outcome): void {
    const { event, failures } = outcome;
    const { correlationId, messageRef } = event;
    if (event.hotPath && failures.length === 0) return; // a reply that grows is one span: its send
    const endedAtMs = this.#options.now();
    const open = this.#open.get(correlationId);
    if (open === undefined) {
      const parent = this.#past.get(correlationId) ?? this.#alone(correlationId, outcome);
      this.#stages.end(outcome, endedAtMs, parent);
      return;
    }
    const { root, runs } = open;
    if (messageRef !== null) root.setAttribute('messaging.message.id', messageRef.id);
    runs.opening(outcome);
    this.#stages.end(outcome, endedAtMs, runs.contextOf(outcome));
    runs.hear(outcome, endedAtMs);
  }

  /** The context of what belongs to no message that this host has begun: an act of an extension, a send of a host before. */
  #alone(correlationId: string, { event }: Outcome): otel.Context {
    const seed =
      event.eventId === correlationId ? correlationId : `${correlationId}#${event.eventId}`;
    const name = `sluice ${event.family}`;
    const times = { kind: otel.SpanKind.INTERNAL, startedAtMs: event.occurredAt };
    const root = this.#root(correlationId, seed, name, times, {
      'sluice.correlation.id': correlationId,
    });
    root.end(timeOf(this.#options.now()));
    const at = otel.trace.setSpan(otel.ROOT_CONTEXT, root);
    this.#past.set(correlationId, at);
    return at;
  }

  #send(entry: Of<'send'>): void {
    const { id, correlationId, state, channel = 'unknown', sendKind, cause, atMs } = entry;
    const open = this.#open.get(correlationId);
    const parent = open?.context ?? this.#past.get(correlationId) ?? otel.ROOT_CONTEXT;
    const known = open?.sends.get(id) ?? this.#pastSends.get(id);
    const span =
      known ??
      this.#options.tracer.startSpan(
        `send ${channel}`,
        {
          kind: otel.SpanKind.PRODUCER,
          startTime: timeOf(atMs),
          attributes: {
            'messaging.system': channel,
            'messaging.operation.type': 'send',
            'messaging.operation.name': 'send',
            'sluice.send.id': id,
            'sluice.send.kind': sendKind,
          },
        },
        parent,
      );
    span.setAttribute('sluice.send.state', state);
    if (state === 'prepared' || state === 'sending') {
      if (open === undefined) this.#pastSends.set(id, span);
      else open.sends.set(id, span);
      return;
    }
    if (state === 'cancelled') span.setAttribute('sluice.cancel.code', cause ?? 'cancelled');
    if (state === 'failed') fail(span, cause ?? '_OTHER');
    span.end(timeOf(atMs));
    open?.sends.delete(id);
    this.#pastSends.set(id, span);
  }

  #attempt({ parentId = '', correlationId, ...told }: Of<'attempt'>): void {
    const span =
      this.#open.get(correlationId)?.sends.get(parentId) ?? this.#pastSends.get(parentId);
    const attributes = {
      'sluice.attempt': told.attempt,
      'sluice.attempt.status': told.status,
      'sluice.attempt.duration_ms': told.durationMs,
    };
    span?.addEvent('attempt', attributes, timeOf(told.atMs));
  }
}
