import { defineConfig } from 'holdfast';
import { load } from './model';
import { tools } from './tools';

/** What `holdfast worker` and `holdfast serve` of the soak run. */
export default defineConfig({ agents: './agents.ts', tools, models: { providers: { load } } });
