import type { SluiceConfig } from './sluice-config.js';

/**
 * Types a config file, so that an editor completes and checks it. Returns what it is given: the file is checked when
 * it is read.
 *
 * @example
 * // sluice.config.ts
 * export default defineConfig({
 *   agent: 'claude',
 *   extensions: [{ path: './quiet-hours.js', config: { from: '22:00' } }],
 * });
 */
export function defineConfig(config: SluiceConfig): SluiceConfig {
  return config;
}
