import type { HoldfastClient } from '../client/index';
import type { ModelPrices } from '../contract/prices';
import type { ProjectFacts, ServiceFacts, ServiceProblem } from '../contract/service-facts';
import type { Logger } from '../host/logger';
import type { AccessOptions } from './access/parts';
import type { PushTarget } from './outgoing/addresses';
import type { AguiOptions } from './agui/options';
import type { AiSdkUiOptions } from './ai-sdk/parts';
import type { Changing } from './http/current';
import type { AgentSummary } from './project/load-project';
import type { ProjectConfig } from './project/project-config';
import type { ServiceStore } from './store/store';
import type { Triggers } from './triggers/options';

export interface ServiceHosting {
  readonly server: ServiceFacts['server']['kind'];
  readonly hasWorker: boolean;
  /** The page of a run in Temporal's web UI, with `{workflowId}` and optionally `{namespace}`. */
  readonly temporalUi?: string;
  readonly project?: () => ProjectFacts;
  readonly problems?: () => readonly ServiceProblem[];
}

type HttpOptions = NonNullable<ProjectConfig['http']>;

export interface ServiceParts extends Pick<HttpOptions, 'publicUrl' | 'origins'>, Pick<ProjectConfig, 'feed' | 'notify'> {
  readonly client: HoldfastClient;
  /** Who may do what. Absent: anybody who reaches the service may do everything, and names are claims. */
  readonly access?: AccessOptions;
  /** Default: files in the directory of Holdfast, or Redis with HOLDFAST_REDIS_URL. */
  readonly store?: ServiceStore;
  readonly agents: readonly AgentSummary[] | (() => readonly AgentSummary[]);
  readonly logger: Logger;
  /** For a service on loopback: more names in requests. Absent: any name. */
  readonly hosts?: readonly string[];
  /** The own address of a service on loopback, as soon as it listens. */
  readonly ownUrl?: () => string | undefined;
  /** Ends the streams of events. */
  readonly closing?: AbortSignal;
  /** Default: 15 s. */
  readonly heartbeatMs?: number;
  readonly policies?: Changing<Readonly<Record<string, object>>>;
  /** Prices of models. Absent: runs have no cost. */
  readonly prices?: Changing<ModelPrices>;
  readonly agui?: Changing<AguiOptions>;
  readonly aiSdk?: Changing<AiSdkUiOptions>;
  /** Webhooks that start runs. */
  readonly triggers?: Changing<Triggers>;
  /** Facts of process and project for `GET /service`. */
  readonly hosting?: ServiceHosting;
  /** Allowed receivers of A2A push notifications. Default: none. */
  readonly pushTo?: Changing<readonly PushTarget[]>;
  /** Longest wait for the Temporal server. Default: 30 s. */
  readonly patienceMs?: number;
}

/** For routes, which get the client of the caller's tenant with each request. */
export type AppParts = Omit<ServiceParts, 'client' | 'access'> & { readonly ownTenant: () => string } & Required<
    Pick<ServiceParts, 'closing' | 'heartbeatMs' | 'patienceMs' | 'store'>
  >;
