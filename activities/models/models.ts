import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { anyOf } from '../../contract/shown';
import type { AskedModel } from './asked-model';
import type { ModelLimits } from '../limits/limit';
import type { LanguageModel, ModelProvider } from './language-model';
import { demoProvider } from './providers/demo';
import { keyVariables, keyedProviders } from './providers/keyed';

export interface ModelsOptions {
  /** Further providers, by the name before the slash. */
  readonly providers?: Readonly<Record<string, ModelProvider>>;
  /** Names for models: one model, or a list whose first model with a key is used. */
  readonly names?: Readonly<Record<string, string | readonly string[]>>;
  /** Limits by model, provider or `*`, for this worker, or with Redis for the task queue. */
  readonly limits?: ModelLimits;
  /** Longest wait for a busy provider (HTTP 429, `Retry-After`). Default: 1h. */
  readonly patience?: string;
  /** Adds the rule-based demo model to the end of `default`. */
  readonly demo?: boolean;
}

export interface ResolvedModel extends AskedModel {
  readonly model: LanguageModel;
}

export class ModelRegistry {
  private readonly providers: Readonly<Record<string, ModelProvider>>;
  private readonly named: Readonly<Record<string, readonly string[]>>;
  private readonly models = new Map<string, Promise<LanguageModel>>();

  constructor(
    options: ModelsOptions = {},
    private readonly environment: Readonly<Record<string, string | undefined>> = process.env,
  ) {
    this.providers = { demo: demoProvider(() => this.realModelAdvice), ...keyedProviders(environment), ...options.providers };
    const named: Record<string, readonly string[]> = { default: [] };
    for (const [name, ids] of Object.entries(options.names ?? {})) named[name] = typeof ids === 'string' ? [ids] : ids;
    if (options.demo === true) named['default'] = [...(named['default'] ?? []), 'demo/rules'];
    this.named = named;
  }

  get names(): readonly string[] {
    return Object.keys(this.named);
  }

  get providerNames(): readonly string[] {
    return Object.keys(this.providers);
  }

  explains(name: string): boolean {
    const candidates = Object.hasOwn(this.named, name) ? this.named[name] : undefined;
    if (candidates === undefined) return name.includes('/') && this.providerOf(name) !== undefined;
    return candidates.length === 0 || candidates.some((id) => id.includes('/') && this.providerOf(id) !== undefined);
  }

  idOf(name: string): string {
    const candidates = Object.hasOwn(this.named, name) ? this.named[name] : undefined;
    if (candidates === undefined) return this.checkedId(name);
    const missing: string[] = [];
    for (const id of candidates) {
      const problem = this.missingKey(id);
      if (problem === undefined) return this.checkedId(id);
      missing.push(problem);
    }
    throw new HoldfastError(
      'model-key-missing',
      `No model of "${name}" can be used${missing.length === 0 ? `: \`models.names.${name}\` names none` : `; missing: ${missing.join(', ')}`}.`,
    );
  }

  get realModelAdvice(): string {
    const ids = this.named['default'] ?? [];
    const missing = new Set(ids.map((id) => this.providerOf(id)?.keyVariable).filter((variable) => variable !== undefined));
    const variables = [
      ...keyVariables.filter((variable) => missing.has(variable)),
      ...[...missing].filter((one) => !keyVariables.includes(one)),
    ];
    return variables.length === 0 ? 'Name a real one as `default` in `models.names`' : `Set ${anyOf(variables)} for a real one`;
  }

  async resolve(name: string): Promise<ResolvedModel> {
    const id = this.idOf(name);
    const slash = id.indexOf('/');
    const provider = this.providers[id.slice(0, slash)] as ModelProvider;
    let model = this.models.get(id);
    if (model === undefined) {
      model = Promise.resolve(provider.model(id.slice(slash + 1)));
      this.models.set(id, model);
      model.catch(() => this.models.delete(id));
    }
    const keyVariable = provider.optionalKeyVariable ?? provider.keyVariable;
    const hasKey = keyVariable !== undefined && (this.environment[keyVariable] ?? '') !== '';
    return { id, model: await model, hasKey, ...defined({ keyVariable }) };
  }

  private providerOf(id: string): ModelProvider | undefined {
    const name = id.split('/')[0] ?? '';
    return Object.hasOwn(this.providers, name) ? this.providers[name] : undefined;
  }

  private checkedId(id: string): string {
    const provider = this.providerOf(id);
    if (!id.includes('/') || provider === undefined) {
      const known = [...this.names, ...this.providerNames.map((provider) => `${provider}/…`)];
      throw new HoldfastError('model-unknown', `There is no model "${id}". There are: ${known.join(', ')}.`);
    }
    const missing = this.missingKey(id);
    if (missing !== undefined)
      throw new HoldfastError('model-key-missing', `The model "${id}" needs ${missing}, which this worker does not have.`);
    return id;
  }

  private missingKey(id: string): string | undefined {
    const provider = this.providerOf(id);
    const variable = provider?.keyVariable;
    if (variable !== undefined && (this.environment[variable] ?? '') === '') return variable;
    return provider?.missing?.();
  }
}
