export * from '@sluice/claude';
