export * from '@sluice/host';
export * from '@sluice/journal';
export * from '@sluice/postgres';
