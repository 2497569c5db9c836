/** `holdfast`: what a project's configuration file needs. */
export { defineConfig } from './project-config';
export type { ProjectConfig } from './project-config';
