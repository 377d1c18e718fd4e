// Package models holds Markov decision processes to experiment on: the queue of
// section 6 under every reading of its transition law, chains whose measures are
// known in closed form, random MDPs, and small worlds to learn with.
//
// A model is a struct whose zero value is the published one. Its MDP method
// builds the [mixpolicy.MDP], or returns an error that names the parameter, state
// or action at fault. Models know nothing of the methods that solve them.
package models
