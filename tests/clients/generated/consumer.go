// An agent on the client that openapi-generator made (go): `consumer URL KEY STATE`.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	snapstate "snapstate.test/generated"
)

const workflow = "generated/go"

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	state := map[string]interface{}{}
	must(json.Unmarshal([]byte(os.Args[3]), &state))
	configuration := snapstate.NewConfiguration()
	configuration.Servers = snapstate.ServerConfigurations{{URL: os.Args[1]}}
	client := snapstate.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), snapstate.ContextAccessToken, os.Args[2])

	save := func(step int64, saved map[string]interface{}) (*snapstate.SavedCheckpoint, error) {
		answer, _, err := client.CheckpointsAPI.SaveCheckpoint(ctx).
			SaveRequest(*snapstate.NewSaveRequest(workflow, step, saved)).Execute()
		return answer, err
	}
	agent := snapstate.NewAgentRegistration("generated")
	agent.SetCapabilities([]string{"save", ""})
	record, _, err := client.AgentsAPI.RegisterAgent(ctx).AgentRegistration(*agent).Execute()
	must(err)
	first, err := save(1, map[string]interface{}{})
	must(err)
	second, err := save(2, state)
	must(err)
	resumed, _, err := client.WorkflowsAPI.ResumeWorkflow(ctx, workflow).Execute()
	must(err)
	replayed, _, err := client.WorkflowsAPI.ReplayWorkflow(ctx, workflow).Limit(1000).Execute()
	must(err)
	got, _, err := client.CheckpointsAPI.GetCheckpoint(ctx, second.CheckpointId).Execute()
	must(err)
	listed, _, err := client.WorkflowsAPI.ListWorkflows(ctx).Q(workflow).Execute()
	must(err)
	_, refused := save(1, map[string]interface{}{"other": true})
	conflict := refused.(*snapstate.GenericOpenAPIError).Model().(snapstate.Conflict)
	_, _, absent := client.WorkflowsAPI.ResumeWorkflow(ctx, "no such").Execute()
	missing := absent.(*snapstate.GenericOpenAPIError).Model().(snapstate.ErrorResponse)

	steps, names := []int64{}, []string{}
	for _, checkpoint := range replayed.Checkpoints {
		steps = append(steps, checkpoint.Step)
	}
	for _, summary := range listed.Workflows {
		names = append(names, summary.WorkflowId)
	}
	existing := conflict.GetExisting()
	said, err := json.Marshal(map[string]interface{}{
		"resumed": resumed.LatestCheckpoint.State, "got": got.State, "replayed": steps,
		"existing": existing.Etag == first.Etag, "errors": []string{conflict.Error.Code, missing.Error.Code},
		"capabilities": record.Capabilities, "listed": names,
	})
	must(err)
	fmt.Println(string(said))
}
