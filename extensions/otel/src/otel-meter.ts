import type { Attributes, Meter, ObservableGauge } from '@opentelemetry/api';
import type { Take } from './entry-metrics.js';
import { type InstrumentName, labelled, rows, type Values } from './instruments.js';

/** Gives the values of instruments to OpenTelemetry. */
export function otelMeter(
  meter: Meter,
  gauges: () => Promise<readonly (readonly [InstrumentName, number])[]>,
): { readonly take: Take } & Disposable {
  const takes = new Map<InstrumentName, (value: number, attributes: Attributes) => void>();
  const observed = new Map<InstrumentName, ObservableGauge>();
  for (const [name, { kind, unit, help: description, buckets }] of rows) {
    const options = { unit, description };
    if (kind === 'gauge') observed.set(name, meter.createObservableGauge(name, options));
    else if (kind === 'counter') {
      const counter = meter.createCounter(name, options);
      takes.set(name, (value, attributes) => counter.add(value, attributes));
    } else {
      const advice = { explicitBucketBoundaries: buckets ?? [] };
      const histogram = meter.createHistogram(name, { ...options, advice });
      takes.set(name, (value, attributes) => histogram.record(value, attributes));
    }
  }
  const all = [...observed.values()];
  const observe: Parameters<Meter['addBatchObservableCallback']>[0] = async (result) => {
    for (const [name, value] of await gauges()) {
      const gauge = observed.get(name);
      if (gauge !== undefined) result.observe(gauge, value);
    }
  };
  meter.addBatchObservableCallback(observe, all);
  return {
    take: (name, value, values) => takes.get(name)?.(value, attributesOf(name, values)),
    [Symbol.dispose]: () => meter.removeBatchObservableCallback(observe, all),
  };
}

function attributesOf(name: InstrumentName, values: Values): Attributes {
  return Object.fromEntries(
    labelled(name, values).map(([label, value]) => [
      label.includes('.') ? label : `sluice.${label}`,
      value,
    ]),
  );
}
