/** What has been done: `client.analytics`. */

import { query, segment } from "./paths.js";
import type { Transport } from "./transport.js";
import type { CallOptions, WorkflowStatus } from "./types.js";

export interface PeriodOptions extends CallOptions {
  /** `2026-11-29`, or a Date, of which the day in UTC counts. Inclusive. */
  startDate?: string | Date;
  endDate?: string | Date;
}

export interface Overview {
  period: { start: string; end: string };
  totalWorkflows: number;
  completedWorkflows: number;
  failedWorkflows: number;
  activeWorkflows: number;
  totalCheckpoints: number;
  avgStepsPerWorkflow: number;
  avgWorkflowDurationSeconds: number;
  topAgents: { agentId: string; workflows: number; avgSteps: number }[];
  daily: { date: string; checkpoints: number; resumes: number; failures: number }[];
}

export interface WorkflowReport {
  workflowId: string;
  totalSteps: number;
  totalSizeBytes: number;
  durationSeconds: number;
  status: WorkflowStatus | "stalled";
  agentsInvolved: string[];
  checkpoints: {
    step: number;
    label: string | null;
    sizeBytes: number;
    timeSincePreviousMs: number;
    agentId: string | null;
    createdAt: string;
  }[];
  resumed: boolean;
  resumedCount: number;
  errorCount: number;
  firstCheckpointAt: string;
  lastCheckpointAt: string;
}

export interface FailureOptions extends CallOptions {
  /** 1 to 90; 7 if not given. */
  days?: number;
  agentId?: string;
}

export interface FailureReport {
  periodDays: number;
  totalFailures: number;
  failureByStep: { step: number; count: number }[];
  failureByAgent: { agentId: string; count: number; errorRate: number }[];
  recentFailures: {
    workflowId: string;
    step: number;
    agentId: string | null;
    errorType: string | null;
    errorMessage: string | null;
    createdAt: string;
  }[];
}

export interface AgentReport {
  agentId: string;
  name: string;
  totalWorkflows: number;
  activeWorkflows: number;
  avgSteps: number;
  avgDurationSeconds: number;
  totalCheckpoints: number;
  errorRate: number;
  lastSeenAt: string;
}

export class Analytics {
  constructor(private readonly transport: Transport) {}

  async overview(options: PeriodOptions = {}): Promise<Overview> {
    return (await this.ask("/analytics/overview", options)) as Overview;
  }

  async workflow(workflowId: string, options: CallOptions = {}): Promise<WorkflowReport> {
    return (await this.ask(`/analytics/workflows/${segment(workflowId, "workflowId")}`, options)) as WorkflowReport;
  }

  async failures(options: FailureOptions = {}): Promise<FailureReport> {
    return (await this.ask("/analytics/failures", options)) as FailureReport;
  }

  async agents(options: PeriodOptions = {}): Promise<{ agents: AgentReport[] }> {
    return (await this.ask("/analytics/agents", options)) as { agents: AgentReport[] };
  }

  private async ask(path: string, options: CallOptions): Promise<unknown> {
    const { signal, timeoutMs, deadlineMs, maxRetries, ...filters } = options;
    const call = { method: "GET" as const, path: path + query(filters) };
    return (await this.transport.send(call, { signal, timeoutMs, deadlineMs, maxRetries })).value;
  }
}
