import { defineConfig } from 'sluice/host';

const byRole = { owner: false, staff: { usd: 10 } };
const caps = { perPrincipal: { usd: 2 }, byRole, total: { usd: 50 } };
const config = { ...caps, timeZone: 'Europe/Berlin', failClosed: true };

export default defineConfig({ extensions: [{ path: 'sluice-budget', config }] });
