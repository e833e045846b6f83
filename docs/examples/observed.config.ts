import { defineConfig } from 'sluice/host';

export default defineConfig({
  extensions: [{ path: 'sluice-otel' }],
  grants: { otel: ['tap'] },
  health: { port: 8080 },
});
