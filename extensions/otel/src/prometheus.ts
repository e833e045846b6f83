import type { SpanContext } from '@opentelemetry/api';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Take } from './entry-metrics.js';
import { type InstrumentName, labelled, rows } from './instruments.js';

/** The instruments as a page for Prometheus. */
interface MetricsPage {
  readonly take: Take;
  /** The page, in OpenMetrics. */
  text(): Promise<string>;
  readonly contentType: string;
}

/**
 * Keeps the values of instruments for `/metrics` (sight §6.3).
 *
 * @param spanOf finds the span of a message, for an exemplar.
 */
export function metricsPage(
  gauges: () => Promise<readonly (readonly [InstrumentName, number])[]>,
  spanOf: (correlationId: string) => SpanContext | undefined,
): MetricsPage {
  const registry = new Registry<typeof Registry.OPENMETRICS_CONTENT_TYPE>();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  const takes = new Map<InstrumentName, (...given: Parameters<Take>) => void>();
  const observed = new Map<InstrumentName, Gauge>();
  for (const [name, { kind, unit, help, labels, buckets }] of rows) {
    const common = {
      name: `${wordOf(name)}${unit === 's' ? '_seconds' : ''}`,
      help,
      labelNames: labels.map(wordOf),
      registers: [registry],
    };
    const about = (values: Parameters<Take>[2], correlationId: string) => {
      const span = spanOf(correlationId);
      return {
        labels: Object.fromEntries(
          labelled(name, values).map(([label, value]) => [wordOf(label), value]),
        ),
        ...(span && { exemplarLabels: { trace_id: span.traceId, span_id: span.spanId } }),
      };
    };
    if (kind === 'gauge') observed.set(name, new Gauge(common));
    else if (kind === 'counter') {
      const counter = new Counter({ ...common, enableExemplars: true });
      takes.set(name, (_, value, values, id) => counter.inc({ ...about(values, id), value }));
    } else {
      const more = { enableExemplars: true, buckets: buckets ?? [] };
      const histogram = new Histogram({ ...common, ...more });
      takes.set(name, (_, value, values, id) => histogram.observe({ ...about(values, id), value }));
    }
  }
  return {
    take: (name, ...given) => takes.get(name)?.(name, ...given),
    text: async () => {
      for (const [name, value] of await gauges()) observed.get(name)?.set(value);
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
}

/** A name as Prometheus takes it. */
function wordOf(name: string): string {
  return name.replaceAll('.', '_');
}
