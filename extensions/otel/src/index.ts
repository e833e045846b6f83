import {
  context,
  type MeterProvider,
  metrics,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import { type Clock, defineExtension, type Extension } from 'sluice';
import type { Around, Fact } from 'sluice/extension';
import { z } from 'zod';
import { EntryMetrics, type Take } from './entry-metrics.js';
import { gaugesOf } from './figure-gauges.js';
import { incomingContext, sendContext } from './http-context.js';
import type { InstrumentName } from './instruments.js';
import { MessageSpans } from './message-spans.js';
import { otelMeter } from './otel-meter.js';
import { metricsPage } from './prometheus.js';

export { type EventIds, eventIds } from './event-ids.js';

const version = '0.2.0';

const config = z.strictObject({
  /** One trace for each message. */
  traces: z.boolean().default(true),
  /** The instruments, through OpenTelemetry. */
  metrics: z.boolean().default(true),
  /** The path of the page for Prometheus, at the health port; `false` is none. */
  path: z.union([z.string().startsWith('/'), z.literal(false)]).default('/metrics'),
  /** Handlers and routes run in the context of their spans; it comes in and goes out with HTTP. */
  context: z.boolean().default(false),
  /** Texts of messages, prompts, answers and tools are attributes. */
  captureContent: z.boolean().default(false),
  /** Milliseconds from which on a handler has a span of its own. */
  handlersFromMs: z.number().min(0).default(10),
});

/** The settings of the extension, as they are written. */
export type OtelConfig = z.input<typeof config>;

/** The providers that an extension uses; by default those that are registered globally. */
interface OtelProviders {
  readonly tracerProvider?: TracerProvider;
  readonly meterProvider?: MeterProvider;
}

/**
 * Makes the extension with providers of its own.
 *
 * @example
 * export default otel({ tracerProvider: new NodeTracerProvider({ idGenerator: eventIds, spanProcessors }) });
 */
export function otel(providers: OtelProviders = {}): Extension<OtelConfig> {
  return defineExtension({
    id: 'otel',
    manifest: { version, sluice: '~0.2.0', grants: ['tap', 'provide:route'] },
    config,
    setup(api, settings) {
      const now = (): number => api.clock.now();
      const spans = settings.traces
        ? new MessageSpans({
            ...settings,
            ...{ now, scrub: (text) => tap.scrub(text) },
            tracer: tracers().getTracer('sluice', version),
          })
        : undefined;
      api.own('sending', () => inTime(Promise.all([tracers(), meters()].map(sendRest)), api.clock));
      if (spans !== undefined) api.own('spans', spans);
      const gauges = async (): Promise<[InstrumentName, number][]> => {
        const figures = await tap.figures().catch(() => undefined); // no host runs yet, or any more
        return figures === undefined ? [] : gaugesOf(figures, now());
      };
      const takes: Take[] = [];
      if (settings.metrics) {
        const meter = otelMeter(meters().getMeter('sluice', version), gauges);
        api.own('instruments', meter);
        takes.push(meter.take);
      }
      if (settings.path !== false) {
        const page = metricsPage(gauges, (id) => spans?.spanOf(id));
        takes.push(page.take);
        const headers = { 'content-type': page.contentType };
        const handler = async () => new Response(await page.text(), { headers });
        api.provide('route', { method: 'GET', path: settings.path, handler });
      }
      const values = new EntryMetrics((...given) => {
        for (const take of takes) take(...given);
      }, now);
      const tap = api.tap({
        ...((spans ?? takes[0]) && {
          fact: (entry: Fact) => {
            spans?.hear(entry);
            if (takes.length > 0) values.hear(entry);
          },
        }),
        ...(takes.length > 0 && {
          failure: (failure, { family }) => values.failed(failure, family),
        }),
        ...(settings.context && spans !== undefined && { around: aroundOf(spans) }),
      });
      if (settings.context) api.own('outgoing context', sendContext());
    },
  });

  function tracers(): TracerProvider {
    return providers.tracerProvider ?? trace.getTracerProvider();
  }

  function meters(): MeterProvider {
    return providers.meterProvider ?? metrics.getMeterProvider();
  }
}

export default otel();

function aroundOf(spans: MessageSpans): Around {
  return (run, of) =>
    of.request === undefined ? spans.run(run, of) : context.with(incomingContext(of.request), run);
}

/** Milliseconds that a collector has for the last spans: one that is away or silent does not hold the end of a host up. */
const lastMs = 2_000;

function inTime(sent: Promise<unknown>, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.setTimeout(resolve, lastMs);
    void sent.finally(() => {
      clock.clearTimeout(timer);
      resolve();
    });
  });
}

/** Has a provider send what it holds when the extension goes: a short run would lose its traces. */
async function sendRest(given: object): Promise<void> {
  const { getDelegate } = given as { getDelegate?(): object }; // of the one that is registered globally
  const provider = (getDelegate?.call(given) ?? given) as { forceFlush?(): Promise<void> }; // of an SDK
  try {
    await provider.forceFlush?.();
  } catch {
    // it tells by its own log
  }
}
