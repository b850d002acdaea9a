// Judges pods by the code with which Kubernetes admits them to a namespace of the profile "restricted": a list of
// {"name", "metadata", "spec"} on standard input, a line for each refusal on standard output.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

type pod struct {
	Name     string
	Metadata metav1.ObjectMeta
	Spec     corev1.PodSpec
}

func main() {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		panic(err)
	}
	var pods []pod
	if err := json.NewDecoder(os.Stdin).Decode(&pods); err != nil {
		panic(err)
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	for _, one := range pods {
		result := policy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &one.Metadata, &one.Spec))
		if !result.Allowed {
			fmt.Printf("%s: %s\n", one.Name, result.ForbiddenDetail())
		}
	}
}
